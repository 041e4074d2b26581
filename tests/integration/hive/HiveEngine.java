import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.IMetaStoreClient;
import org.apache.hadoop.hive.metastore.api.ShowCompactResponseElement;
import org.apache.hadoop.hive.metastore.security.HadoopThriftAuthBridge;
import org.apache.hadoop.hive.metastore.txn.service.AcidHouseKeeperService;
import org.apache.hadoop.hive.ql.txn.compactor.Cleaner;
import org.apache.hadoop.hive.ql.txn.compactor.Worker;

/**
 * Real Hive in one process: its SQL on Tez in local mode, and its metastore, which others reach over Thrift.
 *
 * <p>Each line of the input is a statement in Base64, or a word: "worker" makes the compactions that wait, "cleaner"
 * deletes what is obsolete, "expire" ends transactions without heartbeats. Each answer is lines of cells in Base64 ("-" is NULL), and then "ok" or "error" and a text.
 */
public class HiveEngine {
  public static void main(String[] arguments) throws Exception {
    HiveConf conf = new HiveConf();
    int port = Integer.parseInt(arguments[0]);
    PrintStream answers = System.out;
    System.setOut(System.err);
    Thread metastore = new Thread(() -> {
      try {
        HiveMetaStore.startMetaStore(port, HadoopThriftAuthBridge.getBridge(), new HiveConf(conf));
      } catch (Throwable e) {
        e.printStackTrace();
      }
    });
    metastore.setDaemon(true);
    metastore.start();
    DriverManager.registerDriver(new org.apache.hive.jdbc.HiveDriver());
    Connection connection = DriverManager.getConnection("jdbc:hive2:///default", "hive", "");
    IMetaStoreClient client = new HiveMetaStoreClient(conf);
    answers.println("ok");
    answers.flush();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      try {
        if (line.equals("worker")) {
          work(conf, client);
        } else if (line.equals("cleaner")) {
          clean(conf);
        } else if (line.equals("expire")) {
          expire(conf);
        } else {
          run(connection, new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8), answers);
        }
        answers.println("ok");
      } catch (Throwable e) {
        answers.println("error " + encoded(String.valueOf(e.getMessage())));
      }
      answers.flush();
    }
    System.exit(0);
  }

  private static void run(Connection connection, String sql, PrintStream answers) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return;
      }
      try (ResultSet rows = statement.getResultSet()) {
        int count = rows.getMetaData().getColumnCount();
        while (rows.next()) {
          StringBuilder cells = new StringBuilder("row");
          for (int i = 1; i <= count; i++) {
            String cell = rows.getString(i);
            cells.append(' ').append(cell == null ? "-" : encoded(cell));
          }
          answers.println(cells);
        }
      }
    }
  }

  private static void work(HiveConf conf, IMetaStoreClient client) throws Exception {
    for (int i = 0; i < 20; i++) {
      boolean waiting = false;
      for (ShowCompactResponseElement one : client.showCompactions().getCompacts()) {
        waiting |= "initiated".equals(one.getState());
      }
      if (!waiting) {
        return;
      }
      Worker worker = new Worker();
      worker.setConf(new HiveConf(conf));
      worker.init(new AtomicBoolean(true));
      worker.run();
    }
  }

  private static void clean(HiveConf conf) throws Exception {
    HiveConf quick = new HiveConf(conf);
    quick.set("hive.compactor.cleaner.retention.time.seconds", "0s");
    quick.set("metastore.txn.opentxn.timeout", "1s");
    for (int i = 0; i < 2; i++) {
      Cleaner cleaner = new Cleaner();
      cleaner.setConf(quick);
      cleaner.init(new AtomicBoolean(true));
      cleaner.run();
      Thread.sleep(1100);
    }
  }

  private static void expire(HiveConf conf) throws Exception {
    HiveConf quick = new HiveConf(conf);
    quick.set("metastore.txn.timeout", "1s");
    quick.set("hive.txn.timeout", "1s");
    Thread.sleep(2100);
    AcidHouseKeeperService keeper = new AcidHouseKeeperService();
    keeper.setConf(quick);
    keeper.run();
  }

  private static String encoded(String text) {
    return "=" + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }
}
