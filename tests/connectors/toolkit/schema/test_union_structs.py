"""Which structs stand for unions: those that the metastore's types and ORC's unions give, and no others."""

from __future__ import annotations

import pickle

import pyarrow as pa

from catalog.metastore.types import parse_hive_type
from connectors.toolkit.schema.union_structs import branch_count, is_union_struct, union_struct


def test_types_of_the_metastore_are_known() -> None:
    arrow = parse_hive_type("uniontype<int,array<uniontype<string,date>>>")
    assert is_union_struct(arrow)
    assert branch_count(arrow) == 2
    assert is_union_struct(arrow.field(2).type.value_type)
    assert is_union_struct(pickle.loads(pickle.dumps(arrow)))
    assert arrow == union_struct([arrow.field(1).type, arrow.field(2).type])


def test_a_narrowed_union_tells_all_its_branches() -> None:
    arrow = parse_hive_type("uniontype<int,string,date>")
    assert branch_count(pa.struct([arrow.field("field2"), arrow.field("tag")])) == 3


def test_a_struct_that_looks_alike_is_none() -> None:
    alike = parse_hive_type("struct<tag:tinyint,field0:int,field1:string>")
    assert alike == parse_hive_type("uniontype<int,string>")
    assert not is_union_struct(alike)
    assert not is_union_struct(pa.struct([]))
    assert not is_union_struct(pa.list_(alike))
