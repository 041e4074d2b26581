// The calls of the Hive metastore that Lakeport makes, and no others.
// Written from the wire: names of calls and numbers of fields are those of metastores of Hive 2.3, 3.1 and 4.x.
// A field that only newer metastores know is optional here; older ones skip what they do not know, and so do we.

namespace py lakeport_metastore

// ---- values ----

struct FieldSchema {
  1: string name
  2: string type
  3: string comment
}

struct SerDeInfo {
  1: string name
  2: string serializationLib
  3: map<string, string> parameters
}

struct Order {
  1: string col
  2: i32 order
}

struct SkewedInfo {
  1: list<string> skewedColNames
  2: list<list<string>> skewedColValues
}

struct StorageDescriptor {
  1: list<FieldSchema> cols
  2: string location
  3: string inputFormat
  4: string outputFormat
  5: bool compressed
  6: i32 numBuckets
  7: SerDeInfo serdeInfo
  8: list<string> bucketCols
  9: list<Order> sortCols
  10: map<string, string> parameters
  11: optional SkewedInfo skewedInfo
  12: optional bool storedAsSubDirectories
}

enum PrincipalType {
  USER = 1
  ROLE = 2
  GROUP = 3
}

// ---- privileges and roles ----

enum HiveObjectType {
  GLOBAL = 1
  DATABASE = 2
  TABLE = 3
  PARTITION = 4
  COLUMN = 5
}

enum GrantRevokeType {
  GRANT = 1
  REVOKE = 2
}

struct HiveObjectRef {
  1: HiveObjectType objectType
  2: string dbName
  3: string objectName
  4: list<string> partValues
  5: string columnName
  6: optional string catName  // Hive 3
}

struct PrivilegeGrantInfo {
  1: string privilege
  2: i32 createTime
  3: string grantor
  4: PrincipalType grantorType
  5: bool grantOption
}

struct HiveObjectPrivilege {
  1: HiveObjectRef hiveObject
  2: string principalName
  3: PrincipalType principalType
  4: PrivilegeGrantInfo grantInfo
  5: optional string authorizer  // Hive 3
}

struct PrivilegeBag {
  1: list<HiveObjectPrivilege> privileges
}

struct PrincipalPrivilegeSet {
  1: map<string, list<PrivilegeGrantInfo>> userPrivileges
  2: map<string, list<PrivilegeGrantInfo>> groupPrivileges
  3: map<string, list<PrivilegeGrantInfo>> rolePrivileges
}

struct GrantRevokePrivilegeRequest {
  1: GrantRevokeType requestType
  2: PrivilegeBag privileges
  3: optional bool revokeGrantOption
}

struct GrantRevokePrivilegeResponse {
  1: optional bool success
}

struct Role {
  1: string roleName
  2: i32 createTime
  3: string ownerName
}

struct RolePrincipalGrant {
  1: string roleName
  2: string principalName
  3: PrincipalType principalType
  4: bool grantOption
  5: i32 grantTime
  6: string grantorName
  7: PrincipalType grantorPrincipalType
}

struct GetRoleGrantsForPrincipalRequest {
  1: required string principal_name
  2: required PrincipalType principal_type
}

struct GetRoleGrantsForPrincipalResponse {
  1: required list<RolePrincipalGrant> principalGrants
}

struct GetPrincipalsInRoleRequest {
  1: required string roleName
}

struct GetPrincipalsInRoleResponse {
  1: required list<RolePrincipalGrant> principalGrants
}

struct GrantRevokeRoleRequest {
  1: GrantRevokeType requestType
  2: string roleName
  3: string principalName
  4: PrincipalType principalType
  5: optional string grantor
  6: optional PrincipalType grantorType
  7: optional bool grantOption
}

struct GrantRevokeRoleResponse {
  1: optional bool success
}

// ---- databases and tables ----

struct Database {
  1: string name
  2: string description
  3: string locationUri
  4: map<string, string> parameters
  6: optional string ownerName
  7: optional PrincipalType ownerType
  8: optional string catalogName          // Hive 3
  10: optional string managedLocationUri  // Hive 4
}

struct Table {
  1: string tableName
  2: string dbName
  3: string owner
  4: i32 createTime
  5: i32 lastAccessTime
  6: i32 retention
  7: StorageDescriptor sd
  8: list<FieldSchema> partitionKeys
  9: map<string, string> parameters
  10: string viewOriginalText
  11: string viewExpandedText
  12: string tableType
  13: optional PrincipalPrivilegeSet privileges
  14: optional bool temporary = false
  15: optional bool rewriteEnabled
  17: optional string catName                          // Hive 3
  18: optional PrincipalType ownerType                 // Hive 3
  19: optional i64 writeId = -1                        // Hive 3
  22: optional i8 accessType                           // Hive 4
  23: optional list<string> requiredReadCapabilities   // Hive 4
  24: optional list<string> requiredWriteCapabilities  // Hive 4
}

struct Partition {
  1: list<string> values
  2: string dbName
  3: string tableName
  4: i32 createTime
  5: i32 lastAccessTime
  6: StorageDescriptor sd
  7: map<string, string> parameters
  9: optional string catName         // Hive 3
  10: optional i64 writeId = -1      // Hive 3
}

// ---- statistics ----

struct BooleanColumnStatsData {
  1: required i64 numTrues
  2: required i64 numFalses
  3: required i64 numNulls
}

struct LongColumnStatsData {
  1: optional i64 lowValue
  2: optional i64 highValue
  3: required i64 numNulls
  4: required i64 numDVs
  6: optional binary histogram  // Hive 4: a KLL sketch
}

struct DoubleColumnStatsData {
  1: optional double lowValue
  2: optional double highValue
  3: required i64 numNulls
  4: required i64 numDVs
  6: optional binary histogram  // Hive 4: a KLL sketch
}

struct StringColumnStatsData {
  1: required i64 maxColLen
  2: required double avgColLen
  3: required i64 numNulls
  4: required i64 numDVs
}

struct BinaryColumnStatsData {
  1: required i64 maxColLen
  2: required double avgColLen
  3: required i64 numNulls
}

struct Decimal {
  1: required binary unscaled
  3: required i16 scale
}

struct DecimalColumnStatsData {
  1: optional Decimal lowValue
  2: optional Decimal highValue
  3: required i64 numNulls
  4: required i64 numDVs
  6: optional binary histogram  // Hive 4: a KLL sketch
}

struct Date {
  1: required i64 daysSinceEpoch
}

struct DateColumnStatsData {
  1: optional Date lowValue
  2: optional Date highValue
  3: required i64 numNulls
  4: required i64 numDVs
  6: optional binary histogram  // Hive 4: a KLL sketch
}

struct Timestamp {
  1: required i64 secondsSinceEpoch
}

struct TimestampColumnStatsData {
  1: optional Timestamp lowValue
  2: optional Timestamp highValue
  3: required i64 numNulls
  4: required i64 numDVs
  6: optional binary histogram  // Hive 4: a KLL sketch
}

union ColumnStatisticsData {
  1: BooleanColumnStatsData booleanStats
  2: LongColumnStatsData longStats
  3: DoubleColumnStatsData doubleStats
  4: StringColumnStatsData stringStats
  5: BinaryColumnStatsData binaryStats
  6: DecimalColumnStatsData decimalStats
  7: DateColumnStatsData dateStats
  8: TimestampColumnStatsData timestampStats  // Hive 4
}

struct ColumnStatisticsObj {
  1: required string colName
  2: required string colType
  3: required ColumnStatisticsData statsData
}

struct ColumnStatisticsDesc {
  1: required bool isTblLevel
  2: required string dbName
  3: required string tableName
  4: optional string partName
  5: optional i64 lastAnalyzed
  6: optional string catName
}

struct ColumnStatistics {
  1: required ColumnStatisticsDesc statsDesc
  2: required list<ColumnStatisticsObj> statsObj
  3: optional bool isStatsCompliant  // Hive 3
  4: optional string engine          // Hive 4
}

struct TableStatsRequest {
  1: required string dbName
  2: required string tblName
  3: required list<string> colNames
  4: optional string catName           // Hive 3
  5: optional string validWriteIdList  // Hive 3
  6: optional string engine            // required by Hive 4
}

struct TableStatsResult {
  1: required list<ColumnStatisticsObj> tableStats
}

struct PartitionsStatsRequest {
  1: required string dbName
  2: required string tblName
  3: required list<string> colNames
  4: required list<string> partNames
  5: optional string catName           // Hive 3
  6: optional string validWriteIdList  // Hive 3
  7: optional string engine            // required by Hive 4
}

struct PartitionsStatsResult {
  1: required map<string, list<ColumnStatisticsObj>> partStats
}

// Hive 4.1
struct DeleteColumnStatisticsRequest {
  1: optional string catName
  2: required string db_name
  3: required string tbl_name
  4: optional list<string> part_names
  5: optional list<string> col_names
  6: optional string engine
  7: optional bool tableLevel
}

// ---- requests for tables and partitions ----

enum ClientCapability {
  TEST_CAPABILITY = 1
  INSERT_ONLY_TABLES = 2
}

struct ClientCapabilities {
  1: required list<ClientCapability> values
}

struct GetTableRequest {
  1: required string dbName
  2: required string tblName
  3: optional ClientCapabilities capabilities
  4: optional string catName                      // Hive 3
  6: optional string validWriteIdList             // Hive 3
  7: optional bool getColumnStats                 // Hive 4
  8: optional list<string> processorCapabilities  // Hive 4
  9: optional string processorIdentifier          // Hive 4
  10: optional string engine                      // Hive 4
}

struct GetTableResult {
  1: required Table table
}

struct GetTablesRequest {
  1: required string dbName
  2: optional list<string> tblNames
  3: optional ClientCapabilities capabilities
  4: optional string catName                      // Hive 3
  5: optional list<string> processorCapabilities  // Hive 4
  6: optional string processorIdentifier          // Hive 4
}

struct GetTablesResult {
  1: required list<Table> tables
}

struct DropPartitionsExpr {
  1: required binary expr
  2: optional i32 partArchiveLevel
}

union RequestPartsSpec {
  1: list<string> names
  2: list<DropPartitionsExpr> exprs
}

struct DropPartitionsRequest {
  1: required string dbName
  2: required string tblName
  3: required RequestPartsSpec parts
  4: optional bool deleteData
  5: optional bool ifExists = true
  6: optional bool ignoreProtection
  7: optional EnvironmentContext environmentContext
  8: optional bool needResult = true
  9: optional string catName  // Hive 3
}

struct DropPartitionsResult {
  1: optional list<Partition> partitions
}

// Hive 4
struct AlterTableRequest {
  1: optional string catName
  2: required string dbName
  3: required string tableName
  4: required Table table
  5: optional EnvironmentContext environmentContext
  8: optional list<string> processorCapabilities
  9: optional string processorIdentifier
}

struct AlterTableResponse {
}

struct GetPartitionsByNamesRequest {
  1: required string db_name
  2: required string tbl_name
  3: optional list<string> names
  4: optional bool get_col_stats
  5: optional list<string> processorCapabilities
  6: optional string processorIdentifier
  7: optional string engine
}

struct GetPartitionsByNamesResult {
  1: required list<Partition> partitions
}

// ---- partitions without all that they hold: Hive 4 for those of a filter, Hive 2.3 for the values of keys ----

struct EnvironmentContext {
  1: map<string, string> properties
}

struct CreateTableRequest {
  1: required Table table
  2: optional EnvironmentContext envContext
  9: optional list<string> processorCapabilities
  10: optional string processorIdentifier
}

struct AlterPartitionsRequest {
  1: optional string catName
  2: required string dbName
  3: required string tableName
  4: required list<Partition> partitions
  5: optional EnvironmentContext environmentContext
}

struct AlterPartitionsResponse {
}

struct AddPartitionsRequest {
  1: required string dbName
  2: required string tblName
  3: required list<Partition> parts
  4: required bool ifNotExists
  5: optional bool needResult = true
  6: optional string catName
}

struct AddPartitionsResult {
  1: optional list<Partition> partitions
}

// ---- transactions ----

enum LockType {
  SHARED_READ = 1
  SHARED_WRITE = 2
  EXCLUSIVE = 3
  EXCL_WRITE = 4
}

enum LockLevel {
  DB = 1
  TABLE = 2
  PARTITION = 3
}

enum LockState {
  ACQUIRED = 1
  WAITING = 2
  ABORT = 3
  NOT_ACQUIRED = 4
}

enum DataOperationType {
  SELECT = 1
  INSERT = 2
  UPDATE = 3
  DELETE = 4
  UNSET = 5
  NO_TXN = 6
}

// Hive 4 has more kinds. Hive 3 passes over the field.
enum TxnType {
  COMPACTION = 3
}

struct OpenTxnRequest {
  1: required i32 num_txns
  2: required string user
  3: required string hostname
  4: optional string agentInfo
  7: optional TxnType txn_type
}

struct OpenTxnsResponse {
  1: required list<i64> txn_ids
}

struct GetOpenTxnsResponse {
  1: required i64 txn_high_water_mark
  2: optional list<i64> open_txns    // Hive 2 sends a set, which is skipped here
  3: optional i64 min_open_txn
  4: optional binary abortedBits     // Hive 3
}

struct CommitTxnRequest {
  1: required i64 txnid
  6: optional bool exclWriteEnabled
}

struct AbortTxnRequest {
  1: required i64 txnid
}

struct GetValidWriteIdsRequest {
  1: required list<string> fullTableNames
  2: optional string validTxnList
}

struct TableValidWriteIds {
  1: required string fullTableName
  2: required i64 writeIdHighWaterMark
  3: required list<i64> invalidWriteIds
  4: optional i64 minOpenWriteId
  5: required binary abortedBits
}

struct GetValidWriteIdsResponse {
  1: required list<TableValidWriteIds> tblValidWriteIds
}

struct AllocateTableWriteIdsRequest {
  1: required string dbName
  2: required string tableName
  3: optional list<i64> txnIds
}

struct TxnToWriteId {
  1: required i64 txnId
  2: required i64 writeId
}

struct AllocateTableWriteIdsResponse {
  1: required list<TxnToWriteId> txnToWriteIds
}

struct AddDynamicPartitions {
  1: required i64 txnid
  2: required i64 writeid
  3: required string dbname
  4: required string tablename
  5: required list<string> partitionnames
  6: optional DataOperationType operationType = DataOperationType.UNSET
}

struct LockComponent {
  1: required LockType type
  2: required LockLevel level
  3: required string dbname
  4: optional string tablename
  5: optional string partitionname
  6: optional DataOperationType operationType = DataOperationType.UNSET
  7: optional bool isTransactional = false
  8: optional bool isDynamicPartitionWrite = false
}

struct LockRequest {
  1: required list<LockComponent> component
  2: optional i64 txnid
  3: required string user
  4: required string hostname
  5: optional string agentInfo
}

struct LockResponse {
  1: required i64 lockid
  2: required LockState state
  3: optional string errorMessage  // Hive 4
}

struct CheckLockRequest {
  1: required i64 lockid
  2: optional i64 txnid
  3: optional i64 elapsed_ms
}

struct UnlockRequest {
  1: required i64 lockid
}

struct HeartbeatRequest {
  1: optional i64 lockid
  2: optional i64 txnid
}

struct HeartbeatTxnRangeRequest {
  1: required i64 min
  2: required i64 max
}

struct HeartbeatTxnRangeResponse {
  1: required set<i64> aborted
  2: required set<i64> nosuch
}

struct ShowLocksRequest {
  1: optional string dbname
  2: optional string tablename
  3: optional string partname
  4: optional bool isExtended = false
}

struct ShowLocksResponseElement {
  1: required i64 lockid
  2: required string dbname
  3: optional string tablename
  4: optional string partname
  5: required LockState state
  6: required LockType type
  7: optional i64 txnid
  8: required i64 lastheartbeat
  9: optional i64 acquiredat
  10: required string user
  11: required string hostname
  12: optional i32 heartbeatCount = 0
  13: optional string agentInfo
}

struct ShowLocksResponse {
  1: list<ShowLocksResponseElement> locks
}

// ---- compactions ----

enum CompactionType {
  MINOR = 1
  MAJOR = 2
  REBALANCE = 3          // Hive 4
  ABORT_TXN_CLEANUP = 4  // Hive 4
  SMART_OPTIMIZE = 5     // Hive 4.2
}

struct CompactionRequest {
  1: required string dbname
  2: required string tablename
  3: optional string partitionname
  4: required CompactionType type
  5: optional string runas
  6: optional map<string, string> properties
  9: optional string poolName  // Hive 4
}

struct CompactionResponse {
  1: required i64 id
  2: required string state
  3: required bool accepted
  4: optional string errormessage  // Hive 4
}

struct ShowCompactRequest {
  3: optional string dbName    // Hive 4
  4: optional string tbName    // Hive 4
}

struct ShowCompactResponseElement {
  1: required string dbname
  2: required string tablename
  3: optional string partitionname
  4: required CompactionType type
  5: required string state
  6: optional string workerid
  7: optional i64 start
  8: optional string runAs
  9: optional i64 hightestTxnId     // Hive 4.0 has the write id here
  11: optional i64 endTime
  13: optional i64 id
  14: optional string errorMessage  // Hive 4
  15: optional i64 enqueueTime      // Hive 4
  20: optional string poolName      // Hive 4
  21: optional i64 nextTxnId        // Hive 4
  22: optional i64 txnId            // Hive 4
  23: optional i64 commitTime       // Hive 4
  24: optional i64 hightestWriteId  // Hive 4
}

struct ShowCompactResponse {
  1: required list<ShowCompactResponseElement> compacts
}

// What a worker takes from the list, and gives back (Hive 4).
struct CompactionInfoStruct {
  1: required i64 id
  2: required string dbname
  3: required string tablename
  4: optional string partitionname
  5: required CompactionType type
  6: optional string runas
  9: optional string state
  10: optional string workerId
  12: optional i64 highestWriteId
  13: optional string errorMessage
  17: optional string poolname
}

struct OptionalCompactionInfoStruct {
  1: optional CompactionInfoStruct ci
}

struct FindNextCompactRequest {
  1: optional string workerId
  2: optional string workerVersion
  3: optional string poolName
}

// ---- what a metastore complains of ----

exception MetaException {
  1: string message
}

exception UnknownTableException {
  1: string message
}

exception UnknownDBException {
  1: string message
}

exception AlreadyExistsException {
  1: string message
}

exception InvalidObjectException {
  1: string message
}

exception NoSuchObjectException {
  1: string message
}

exception InvalidOperationException {
  1: string message
}

exception InvalidInputException {
  1: string message
}

exception ConfigValSecurityException {
  1: string message
}

exception NoSuchTxnException {
  1: string message
}

exception TxnAbortedException {
  1: string message
}

exception TxnOpenException {
  1: string message
}

exception NoSuchLockException {
  1: string message
}

// ---- calls ----

service ThriftHiveMetastore {
  string getVersion()
  list<string> set_ugi(1: string user_name, 2: list<string> group_names) throws (1: MetaException o1)
  string get_delegation_token(1: string token_owner, 2: string renewer_kerberos_principal_name)
      throws (1: MetaException o1)
  i64 renew_delegation_token(1: string token_str_form) throws (1: MetaException o1)
  void cancel_delegation_token(1: string token_str_form) throws (1: MetaException o1)
  string getMetaConf(1: string key) throws (1: MetaException o1)
  string get_config_value(1: string name, 2: string defaultValue) throws (1: ConfigValSecurityException o1)

  list<string> get_all_databases() throws (1: MetaException o1)
  list<string> get_databases(1: string pattern) throws (1: MetaException o1)
  Database get_database(1: string name) throws (1: NoSuchObjectException o1, 2: MetaException o2)
  list<string> get_all_tables(1: string db_name) throws (1: MetaException o1)
  Table get_table(1: string dbname, 2: string tbl_name) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  GetTableResult get_table_req(1: GetTableRequest req) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  list<Table> get_table_objects_by_name(1: string dbname, 2: list<string> tbl_names)
    throws (1: MetaException o1, 2: InvalidOperationException o2, 3: UnknownDBException o3)
  GetTablesResult get_table_objects_by_name_req(1: GetTablesRequest req)
    throws (1: MetaException o1, 2: InvalidOperationException o2, 3: UnknownDBException o3)

  list<string> get_partition_names(1: string db_name, 2: string tbl_name, 3: i16 max_parts = -1)
    throws (1: NoSuchObjectException o1, 2: MetaException o2)
  list<string> get_partition_names_ps(
    1: string db_name, 2: string tbl_name, 3: list<string> part_vals, 4: i16 max_parts = -1)
    throws (1: MetaException o1, 2: NoSuchObjectException o2)
  list<Partition> get_partitions_by_names(1: string db_name, 2: string tbl_name, 3: list<string> names)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: InvalidObjectException o3)
  GetPartitionsByNamesResult get_partitions_by_names_req(1: GetPartitionsByNamesRequest req)
    throws (1: MetaException o1, 2: NoSuchObjectException o2, 3: InvalidObjectException o3)


  TableStatsResult get_table_statistics_req(1: TableStatsRequest request)
    throws (1: NoSuchObjectException o1, 2: MetaException o2)
  PartitionsStatsResult get_partitions_statistics_req(1: PartitionsStatsRequest request)
    throws (1: NoSuchObjectException o1, 2: MetaException o2)
  bool update_table_column_statistics(1: ColumnStatistics stats_obj)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4)
  bool update_partition_column_statistics(1: ColumnStatistics stats_obj)
    throws (1: NoSuchObjectException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: InvalidInputException o4)
  bool delete_table_column_statistics(1: string db_name, 2: string tbl_name, 3: string col_name, 4: string engine)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4)
  bool delete_partition_column_statistics(
    1: string db_name, 2: string tbl_name, 3: string part_name, 4: string col_name, 5: string engine)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4)
  bool delete_column_statistics_req(1: DeleteColumnStatisticsRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2, 3: InvalidObjectException o3, 4: InvalidInputException o4)

  void create_database(1: Database database)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3)
  void drop_database(1: string name, 2: bool deleteData, 3: bool cascade)
    throws (1: NoSuchObjectException o1, 2: InvalidOperationException o2, 3: MetaException o3)
  void create_table(1: Table tbl)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4)
  void create_table_req(1: CreateTableRequest request)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4)
  Table translate_table_dryrun(1: CreateTableRequest request)
    throws (1: AlreadyExistsException o1, 2: InvalidObjectException o2, 3: MetaException o3, 4: NoSuchObjectException o4)
  void drop_table(1: string dbname, 2: string name, 3: bool deleteData)
    throws (1: NoSuchObjectException o1, 2: MetaException o3)
  void alter_table(1: string dbname, 2: string tbl_name, 3: Table new_tbl)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  void drop_table_with_environment_context(
    1: string dbname, 2: string name, 3: bool deleteData, 4: EnvironmentContext environment_context)
    throws (1: NoSuchObjectException o1, 2: MetaException o3)
  void alter_database(1: string dbname, 2: Database db) throws (1: MetaException o1, 2: NoSuchObjectException o2)
  void alter_table_with_environment_context(
    1: string dbname, 2: string tbl_name, 3: Table new_tbl, 4: EnvironmentContext environment_context)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  AlterTableResponse alter_table_req(1: AlterTableRequest req)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  DropPartitionsResult drop_partitions_req(1: DropPartitionsRequest req)
    throws (1: NoSuchObjectException o1, 2: MetaException o2)
  void alter_partitions_with_environment_context(
    1: string db_name, 2: string tbl_name, 3: list<Partition> new_parts, 4: EnvironmentContext environment_context)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  AlterPartitionsResponse alter_partitions_req(1: AlterPartitionsRequest req)
    throws (1: InvalidOperationException o1, 2: MetaException o2)
  i32 add_partitions(1: list<Partition> new_parts)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3)
  AddPartitionsResult add_partitions_req(1: AddPartitionsRequest request)
    throws (1: InvalidObjectException o1, 2: AlreadyExistsException o2, 3: MetaException o3)

  bool create_role(1: Role role) throws (1: MetaException o1)
  bool drop_role(1: string role_name) throws (1: MetaException o1)
  list<string> get_role_names() throws (1: MetaException o1)
  GrantRevokeRoleResponse grant_revoke_role(1: GrantRevokeRoleRequest request) throws (1: MetaException o1)
  GetPrincipalsInRoleResponse get_principals_in_role(1: GetPrincipalsInRoleRequest request)
    throws (1: MetaException o1)
  GetRoleGrantsForPrincipalResponse get_role_grants_for_principal(1: GetRoleGrantsForPrincipalRequest request)
    throws (1: MetaException o1)
  list<HiveObjectPrivilege> list_privileges(
    1: string principal_name, 2: PrincipalType principal_type, 3: HiveObjectRef hiveObject)
    throws (1: MetaException o1)
  GrantRevokePrivilegeResponse grant_revoke_privileges(1: GrantRevokePrivilegeRequest request)
    throws (1: MetaException o1)

  OpenTxnsResponse open_txns(1: OpenTxnRequest rqst)
  void commit_txn(1: CommitTxnRequest rqst) throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2)
  void abort_txn(1: AbortTxnRequest rqst) throws (1: NoSuchTxnException o1)
  GetOpenTxnsResponse get_open_txns()
  GetValidWriteIdsResponse get_valid_write_ids(1: GetValidWriteIdsRequest rqst)
    throws (1: NoSuchTxnException o1, 2: MetaException o2)
  AllocateTableWriteIdsResponse allocate_table_write_ids(1: AllocateTableWriteIdsRequest rqst)
    throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2, 3: MetaException o3)
  void add_dynamic_partitions(1: AddDynamicPartitions rqst) throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2)
  LockResponse lock(1: LockRequest rqst) throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2)
  LockResponse check_lock(1: CheckLockRequest rqst)
    throws (1: NoSuchTxnException o1, 2: TxnAbortedException o2, 3: NoSuchLockException o3)
  void unlock(1: UnlockRequest rqst) throws (1: NoSuchLockException o1, 2: TxnOpenException o2)
  void heartbeat(1: HeartbeatRequest ids)
    throws (1: NoSuchLockException o1, 2: NoSuchTxnException o2, 3: TxnAbortedException o3)
  HeartbeatTxnRangeResponse heartbeat_txn_range(1: HeartbeatTxnRangeRequest txns)
  ShowLocksResponse show_locks(1: ShowLocksRequest rqst)
  CompactionResponse compact2(1: CompactionRequest rqst)
  ShowCompactResponse show_compact(1: ShowCompactRequest rqst)
  OptionalCompactionInfoStruct find_next_compact2(1: FindNextCompactRequest rqst) throws (1: MetaException o1)
  void update_compactor_state(1: CompactionInfoStruct cr, 2: i64 txn_id)
  void mark_compacted(1: CompactionInfoStruct cr) throws (1: MetaException o1)
  void mark_cleaned(1: CompactionInfoStruct cr) throws (1: MetaException o1)
  void mark_failed(1: CompactionInfoStruct cr) throws (1: MetaException o1)
  void mark_refused(1: CompactionInfoStruct cr) throws (1: MetaException o1)
}
