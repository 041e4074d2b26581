"""The tables of TPC-DS and TPC-H as Trino's connectors of these names have them.

Each column is a name and a type: k is a bigint, i an integer, d a date, s a text, and n7.2 a decimal(7, 2).
"""

from __future__ import annotations

import pyarrow as pa

__all__ = ["TPC_TABLES", "tpc_columns"]

_TEXT = {
    "tpcds": {
        "call_center": (
            "k:cc_call_center_sk s:cc_call_center_id d:cc_rec_start_date,cc_rec_end_date i:cc_closed_date_sk,"
            "cc_open_date_sk s:cc_name,cc_class i:cc_employees,cc_sq_ft s:cc_hours,cc_manager i:cc_mkt_id "
            "s:cc_mkt_class,cc_mkt_desc,cc_market_manager i:cc_division s:cc_division_name i:cc_company "
            "s:cc_company_name,cc_street_number,cc_street_name,cc_street_type,cc_suite_number,cc_city,"
            "cc_county,cc_state,cc_zip,cc_country n5.2:cc_gmt_offset,cc_tax_percentage"
        ),
        "catalog_page": (
            "k:cp_catalog_page_sk s:cp_catalog_page_id i:cp_start_date_sk,cp_end_date_sk s:cp_department "
            "i:cp_catalog_number,cp_catalog_page_number s:cp_description,cp_type"
        ),
        "catalog_returns": (
            "k:cr_returned_date_sk,cr_returned_time_sk,cr_item_sk,cr_refunded_customer_sk,cr_refunded_cdemo_sk,"
            "cr_refunded_hdemo_sk,cr_refunded_addr_sk,cr_returning_customer_sk,cr_returning_cdemo_sk,"
            "cr_returning_hdemo_sk,cr_returning_addr_sk,cr_call_center_sk,cr_catalog_page_sk,cr_ship_mode_sk,"
            "cr_warehouse_sk,cr_reason_sk,cr_order_number i:cr_return_quantity n7.2:cr_return_amount,"
            "cr_return_tax,cr_return_amt_inc_tax,cr_fee,cr_return_ship_cost,cr_refunded_cash,"
            "cr_reversed_charge,cr_store_credit,cr_net_loss"
        ),
        "catalog_sales": (
            "k:cs_sold_date_sk,cs_sold_time_sk,cs_ship_date_sk,cs_bill_customer_sk,cs_bill_cdemo_sk,"
            "cs_bill_hdemo_sk,cs_bill_addr_sk,cs_ship_customer_sk,cs_ship_cdemo_sk,cs_ship_hdemo_sk,"
            "cs_ship_addr_sk,cs_call_center_sk,cs_catalog_page_sk,cs_ship_mode_sk,cs_warehouse_sk,cs_item_sk,"
            "cs_promo_sk,cs_order_number i:cs_quantity n7.2:cs_wholesale_cost,cs_list_price,cs_sales_price,"
            "cs_ext_discount_amt,cs_ext_sales_price,cs_ext_wholesale_cost,cs_ext_list_price,cs_ext_tax,"
            "cs_coupon_amt,cs_ext_ship_cost,cs_net_paid,cs_net_paid_inc_tax,cs_net_paid_inc_ship,"
            "cs_net_paid_inc_ship_tax,cs_net_profit"
        ),
        "customer": (
            "k:c_customer_sk s:c_customer_id k:c_current_cdemo_sk,c_current_hdemo_sk,c_current_addr_sk,"
            "c_first_shipto_date_sk,c_first_sales_date_sk s:c_salutation,c_first_name,c_last_name,"
            "c_preferred_cust_flag i:c_birth_day,c_birth_month,c_birth_year s:c_birth_country,c_login,"
            "c_email_address k:c_last_review_date_sk"
        ),
        "customer_address": (
            "k:ca_address_sk s:ca_address_id,ca_street_number,ca_street_name,ca_street_type,ca_suite_number,"
            "ca_city,ca_county,ca_state,ca_zip,ca_country n5.2:ca_gmt_offset s:ca_location_type"
        ),
        "customer_demographics": (
            "k:cd_demo_sk s:cd_gender,cd_marital_status,cd_education_status i:cd_purchase_estimate "
            "s:cd_credit_rating i:cd_dep_count,cd_dep_employed_count,cd_dep_college_count"
        ),
        "date_dim": (
            "k:d_date_sk s:d_date_id d:d_date i:d_month_seq,d_week_seq,d_quarter_seq,d_year,d_dow,d_moy,d_dom,"
            "d_qoy,d_fy_year,d_fy_quarter_seq,d_fy_week_seq s:d_day_name,d_quarter_name,d_holiday,d_weekend,"
            "d_following_holiday i:d_first_dom,d_last_dom,d_same_day_ly,d_same_day_lq s:d_current_day,"
            "d_current_week,d_current_month,d_current_quarter,d_current_year"
        ),
        "household_demographics": "k:hd_demo_sk,hd_income_band_sk s:hd_buy_potential i:hd_dep_count,hd_vehicle_count",
        "income_band": "k:ib_income_band_sk i:ib_lower_bound,ib_upper_bound",
        "inventory": "k:inv_date_sk,inv_item_sk,inv_warehouse_sk i:inv_quantity_on_hand",
        "item": (
            "k:i_item_sk s:i_item_id d:i_rec_start_date,i_rec_end_date s:i_item_desc n7.2:i_current_price,"
            "i_wholesale_cost i:i_brand_id s:i_brand i:i_class_id s:i_class i:i_category_id s:i_category "
            "i:i_manufact_id s:i_manufact,i_size,i_formulation,i_color,i_units,i_container i:i_manager_id "
            "s:i_product_name"
        ),
        "promotion": (
            "k:p_promo_sk s:p_promo_id k:p_start_date_sk,p_end_date_sk,p_item_sk n15.2:p_cost "
            "i:p_response_targe s:p_promo_name,p_channel_dmail,p_channel_email,p_channel_catalog,p_channel_tv,"
            "p_channel_radio,p_channel_press,p_channel_event,p_channel_demo,p_channel_details,p_purpose,"
            "p_discount_active"
        ),
        "reason": "k:r_reason_sk s:r_reason_id,r_reason_desc",
        "ship_mode": "k:sm_ship_mode_sk s:sm_ship_mode_id,sm_type,sm_code,sm_carrier,sm_contract",
        "store": (
            "k:s_store_sk s:s_store_id d:s_rec_start_date,s_rec_end_date k:s_closed_date_sk s:s_store_name "
            "i:s_number_employees,s_floor_space s:s_hours,s_manager i:s_market_id s:s_geography_class,"
            "s_market_desc,s_market_manager i:s_division_id s:s_division_name i:s_company_id s:s_company_name,"
            "s_street_number,s_street_name,s_street_type,s_suite_number,s_city,s_county,s_state,s_zip,"
            "s_country n5.2:s_gmt_offset,s_tax_precentage"
        ),
        "store_returns": (
            "k:sr_returned_date_sk,sr_return_time_sk,sr_item_sk,sr_customer_sk,sr_cdemo_sk,sr_hdemo_sk,"
            "sr_addr_sk,sr_store_sk,sr_reason_sk,sr_ticket_number i:sr_return_quantity n7.2:sr_return_amt,"
            "sr_return_tax,sr_return_amt_inc_tax,sr_fee,sr_return_ship_cost,sr_refunded_cash,"
            "sr_reversed_charge,sr_store_credit,sr_net_loss"
        ),
        "store_sales": (
            "k:ss_sold_date_sk,ss_sold_time_sk,ss_item_sk,ss_customer_sk,ss_cdemo_sk,ss_hdemo_sk,ss_addr_sk,"
            "ss_store_sk,ss_promo_sk,ss_ticket_number i:ss_quantity n7.2:ss_wholesale_cost,ss_list_price,"
            "ss_sales_price,ss_ext_discount_amt,ss_ext_sales_price,ss_ext_wholesale_cost,ss_ext_list_price,"
            "ss_ext_tax,ss_coupon_amt,ss_net_paid,ss_net_paid_inc_tax,ss_net_profit"
        ),
        "time_dim": (
            "k:t_time_sk s:t_time_id i:t_time,t_hour,t_minute,t_second s:t_am_pm,t_shift,t_sub_shift,"
            "t_meal_time"
        ),
        "warehouse": (
            "k:w_warehouse_sk s:w_warehouse_id,w_warehouse_name i:w_warehouse_sq_ft s:w_street_number,"
            "w_street_name,w_street_type,w_suite_number,w_city,w_county,w_state,w_zip,w_country "
            "n5.2:w_gmt_offset"
        ),
        "web_page": (
            "k:wp_web_page_sk s:wp_web_page_id d:wp_rec_start_date,wp_rec_end_date k:wp_creation_date_sk,"
            "wp_access_date_sk s:wp_autogen_flag k:wp_customer_sk s:wp_url,wp_type i:wp_char_count,"
            "wp_link_count,wp_image_count,wp_max_ad_count"
        ),
        "web_returns": (
            "k:wr_returned_date_sk,wr_returned_time_sk,wr_item_sk,wr_refunded_customer_sk,wr_refunded_cdemo_sk,"
            "wr_refunded_hdemo_sk,wr_refunded_addr_sk,wr_returning_customer_sk,wr_returning_cdemo_sk,"
            "wr_returning_hdemo_sk,wr_returning_addr_sk,wr_web_page_sk,wr_reason_sk,wr_order_number "
            "i:wr_return_quantity n7.2:wr_return_amt,wr_return_tax,wr_return_amt_inc_tax,wr_fee,"
            "wr_return_ship_cost,wr_refunded_cash,wr_reversed_charge,wr_account_credit,wr_net_loss"
        ),
        "web_sales": (
            "k:ws_sold_date_sk,ws_sold_time_sk,ws_ship_date_sk,ws_item_sk,ws_bill_customer_sk,ws_bill_cdemo_sk,"
            "ws_bill_hdemo_sk,ws_bill_addr_sk,ws_ship_customer_sk,ws_ship_cdemo_sk,ws_ship_hdemo_sk,"
            "ws_ship_addr_sk,ws_web_page_sk,ws_web_site_sk,ws_ship_mode_sk,ws_warehouse_sk,ws_promo_sk,"
            "ws_order_number i:ws_quantity n7.2:ws_wholesale_cost,ws_list_price,ws_sales_price,"
            "ws_ext_discount_amt,ws_ext_sales_price,ws_ext_wholesale_cost,ws_ext_list_price,ws_ext_tax,"
            "ws_coupon_amt,ws_ext_ship_cost,ws_net_paid,ws_net_paid_inc_tax,ws_net_paid_inc_ship,"
            "ws_net_paid_inc_ship_tax,ws_net_profit"
        ),
        "web_site": (
            "k:web_site_sk s:web_site_id d:web_rec_start_date,web_rec_end_date s:web_name k:web_open_date_sk,"
            "web_close_date_sk s:web_class,web_manager i:web_mkt_id s:web_mkt_class,web_mkt_desc,"
            "web_market_manager i:web_company_id s:web_company_name,web_street_number,web_street_name,"
            "web_street_type,web_suite_number,web_city,web_county,web_state,web_zip,web_country "
            "n5.2:web_gmt_offset,web_tax_percentage"
        ),
    },
    "tpch": {
        "customer": "k:custkey s:name,address k:nationkey s:phone n15.2:acctbal s:mktsegment,comment",
        "lineitem": (
            "k:orderkey,partkey,suppkey i:linenumber n15.2:quantity,extendedprice,discount,tax s:returnflag,"
            "linestatus d:shipdate,commitdate,receiptdate s:shipinstruct,shipmode,comment"
        ),
        "nation": "k:nationkey s:name k:regionkey s:comment",
        "orders": (
            "k:orderkey,custkey s:orderstatus n15.2:totalprice d:orderdate s:orderpriority,clerk "
            "i:shippriority s:comment"
        ),
        "part": "k:partkey s:name,mfgr,brand,type i:size s:container n15.2:retailprice s:comment",
        "partsupp": "k:partkey,suppkey i:availqty n15.2:supplycost s:comment",
        "region": "k:regionkey s:name,comment",
        "supplier": "k:suppkey s:name,address k:nationkey s:phone n15.2:acctbal s:comment",
    },
}  # fmt: skip
_TYPES = {"k": pa.int64(), "i": pa.int32(), "d": pa.date32(), "s": pa.string()}


def tpc_columns(text: str) -> dict[str, pa.DataType]:
    """The columns of a table's text."""
    columns: dict[str, pa.DataType] = {}
    for run in text.split():
        kind, _, names = run.partition(":")
        digits = [int(one) for one in kind[1:].split(".")] if kind.startswith("n") else []
        made = pa.decimal128(*digits) if digits else _TYPES[kind]
        columns.update(dict.fromkeys(names.split(","), made))
    return columns


TPC_TABLES = {catalog: {name: tpc_columns(text) for name, text in tables.items()} for catalog, tables in _TEXT.items()}
"""Columns by the names of the catalog, ``tpcds`` or ``tpch``, and the table."""
