"""Many of Spark's ``PartitionedFile`` objects in a few round trips.

A scan may have tens of thousands of files, and a round trip for each part of each file would take seconds. So all
files cross as one JSON text, which ``FilePartitions.java`` reads. Where Java has no such class, Jackson makes a list of
lists of it; a method handle, put together here from the constructor, turns each inner list into a file on Java's side.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from py4j.java_gateway import JavaObject

from connector_spi.handles import NativeFile
from lakeport.spark.bridge.compiled import java_classes
from lakeport.spark.bridge.jvm import READ, Jvm

__all__ = ["file_partitions", "file_words"]

_PARTITIONED_FILE = "org.apache.spark.sql.execution.datasources.PartitionedFile"
_FILE_PARTITION = "org.apache.spark.sql.execution.datasources.FilePartition"
_HANDLES = "java.lang.invoke.MethodHandles"
_HANDLE = "java.lang.invoke.MethodHandle"
_OBJECT = "java.lang.Object"
_LIST = "java.util.List"


def file_partitions(
    jvm: Jvm, tasks: Sequence[Sequence[tuple[NativeFile, int]]], rows: Sequence[JavaObject]
) -> JavaObject:
    """An ``InputPartition[]`` of one ``FilePartition`` for each task.

    Args:
        jvm: The door to the JVM.
        tasks: The files of each, and which of ``rows`` has the constants of the file.
        rows: Constants of files, as ``InternalRow``; empty where files have none.
    """
    parts = _parts(tasks)
    function = java_classes.function(jvm, "FilePartitions")
    if function is not None:
        return function.apply(_list(jvm, rows) if rows else None, json.dumps(parts))
    given = rows or [jvm.cls("org.apache.spark.sql.catalyst.expressions.GenericInternalRow")(0)]
    made = _make_files(jvm, [file for files in parts for file in files], given)
    partitions, start = [], 0
    for index, files in enumerate(parts):
        taken = _take_files(jvm, made, start, start + len(files))
        partitions.append(jvm.cls(_FILE_PARTITION)(index, taken))
        start += len(files)
    return jvm.array(READ + "InputPartition", partitions)


def file_words(tasks: Sequence[Sequence[tuple[NativeFile, int]]]) -> str:
    """What ``FilePartitions.java`` reads: as the argument of ``file_partitions``."""
    return json.dumps(_parts(tasks))


def _parts(tasks: Sequence[Sequence[tuple[NativeFile, int]]]) -> list[list[list[object]]]:
    return [[[row, f.path, f.start, f.length, f.modified_millis, f.file_size] for f, row in files] for files in tasks]


def _make_files(jvm: Jvm, parts: Sequence[list[object]], rows: Sequence[JavaObject]) -> JavaObject:
    """A Java list of one ``PartitionedFile`` for each file."""
    java_class = jvm.cls("java.lang.Class").forName
    made = jvm.json_mapper.readValue(json.dumps(parts), java_class("java.util.ArrayList"))
    made.replaceAll(_maker(jvm, rows))
    return made


def _take_files(jvm: Jvm, files: JavaObject, start: int, end: int) -> JavaObject:
    """A part of them, as ``PartitionedFile[]``."""
    out = jvm.new_array(_PARTITIONED_FILE, end - start)
    jvm.cls("java.lang.System").arraycopy(files.subList(start, end).toArray(), 0, out, 0, end - start)
    return out


def _list(jvm: Jvm, rows: Sequence[JavaObject]) -> JavaObject:
    found = jvm.cls("java.util.ArrayList")()
    for row in rows:
        found.add(row)
    return found


def _maker(jvm: Jvm, rows: Sequence[JavaObject]) -> JavaObject:
    """From ``[row number, path, start, length, modification time, size]`` to a file, as a Java ``UnaryOperator``."""
    java_class, handles = jvm.cls("java.lang.Class").forName, jvm.cls(_HANDLES)
    [constructor] = jvm.items(java_class(_PARTITIONED_FILE).getConstructors())
    make = handles.publicLookup().unreflectConstructor(constructor)
    # From the last to the first, so that the positions of those before stay as they are.
    make = handles.insertArguments(make, 7, jvm.array(_OBJECT, [jvm.empty_map]))
    make = handles.insertArguments(make, 4, jvm.array(_OBJECT, [jvm.no_strings]))
    row_of = _method(jvm, _LIST, "get", 1).bindTo(_list(jvm, rows))
    row_of = row_of.asType(row_of.type().changeReturnType(make.type().parameterType(0)))
    path_of = _method(jvm, "org.apache.spark.paths.SparkPath", "fromPathString", 1)
    make = handles.filterArguments(make, 0, jvm.array(_HANDLE, [row_of, path_of]))
    from_array = make.asSpreader(java_class("[Ljava.lang.Object;"), 6)
    from_list = handles.filterArguments(from_array, 0, jvm.array(_HANDLE, [_method(jvm, _LIST, "toArray", 0)]))
    operator = java_class("java.util.function.UnaryOperator")
    return jvm.cls("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(operator, from_list)


def _method(jvm: Jvm, class_name: str, name: str, parameters: int) -> JavaObject:
    """The handle of a public method by its name and number of parameters."""
    key = ("method handle", class_name, name, parameters)
    if key not in jvm.shared:
        methods = jvm.items(jvm.cls("java.lang.Class").forName(class_name).getMethods())
        [found] = [m for m in methods if m.getName() == name and m.getParameterCount() == parameters]
        jvm.shared[key] = jvm.cls(_HANDLES).publicLookup().unreflect(found)
    return jvm.shared[key]
