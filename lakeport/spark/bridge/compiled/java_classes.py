"""Java classes of the package, which the Janino that Spark ships compiles at run time; see docs/adr/0011."""

from __future__ import annotations

import hashlib
import logging
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaGateway, JavaObject
from py4j.protocol import Py4JError

from lakeport.spark.bridge.compiled.java_cache import cache_directory, compiled_jar
from lakeport.spark.bridge.jvm import Jvm

__all__ = [
    "PACKAGE",
    "class_jar",
    "define_class",
    "findable",
    "first_line",
    "function",
    "load_class",
    "new_instance",
    "publish_class",
    "shared_constructor",
    "source",
]

PACKAGE = "lakeport.spark."

_log = logging.getLogger(__name__)
_DEFINER = "ClassBeside"
_SWITCH = "LAKEPORT_JAVA_ADAPTERS"
_APPLICATION_LOADERS = ("MutableURLClassLoader", "ChildFirstURLClassLoader")

_loaders: WeakKeyDictionary[JavaGateway, dict[Path, JavaObject]] = WeakKeyDictionary()
"""One for each jar in a JVM: py4j keeps methods by the name of a class, and would mix those of two loaders up."""


def source(name: str) -> str:
    """The Java source of a class of the package."""
    return files("lakeport.spark.bridge.compiled").joinpath(f"{name}.java").read_text("utf-8")


def class_jar(jvm: Jvm, kind: str, text: str, complete: Callable[[], str] | None = None) -> Path:
    """The jar of a compiled source, for the running Spark.

    Args:
        jvm: The JVM.
        kind: A word for the name of the jar.
        text: The source, or what tells one from another that ``complete`` gives.
        complete: Gives the source, where it depends on Spark's own classes.
    """
    name = f"{kind}-spark-{jvm.version}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return compiled_jar(cache_directory(), name, lambda: _compiled(jvm, text if complete is None else complete()))


def load_class(jvm: Jvm, jar: Path, name: str) -> JavaObject:
    """A class of a jar, for the driver; py4j's own loader does not know it."""
    loaders = _loaders.setdefault(jvm.gateway, {})
    if jar not in loaders:
        urls = jvm.array("java.net.URL", [jvm.cls("java.io.File")(str(jar)).toURI().toURL()])
        loaders[jar] = jvm.cls("java.net.URLClassLoader")(urls, _parent(jvm))
    return loaders[jar].loadClass(PACKAGE + name)


def new_instance(jvm: Jvm, name: str, *arguments: object) -> JavaObject:
    """What the one constructor of a class of a source makes, on the driver.

    Raises:
        Py4JError, OSError: The class cannot be had in this Spark, or its constructor failed.
    """
    [constructor] = jvm.items(load_class(jvm, class_jar(jvm, name, source(name)), name).getConstructors())
    return constructor.newInstance(jvm.array("java.lang.Object", list(arguments)))


def publish_class(jvm: Jvm, jar: Path, name: str) -> JavaObject:
    """A class of a jar that Spark finds by its name from now on, in each thread and session.

    It goes to the class loader that ``spark-submit`` makes for the application, from which those of Spark's threads,
    sessions and clients come.

    Raises:
        FileNotFoundError: This Spark was started in a way that has no such class loader.
    """
    found, loader = None, _parent(jvm)
    while loader is not None:
        found = loader if jvm.class_name(loader) in _APPLICATION_LOADERS else found
        loader = loader.getParent()
    if found is None:
        raise FileNotFoundError("this Spark has no class loader of the application; start it by spark-submit")
    found.addURL(jvm.cls("java.io.File")(str(jar)).toURI().toURL())
    return found.loadClass(PACKAGE + name)


def define_class(jvm: Jvm, name: str, beside: str) -> JavaObject:
    """A class of a source in the package and the class loader of another, where any thread finds it by its name.

    Args:
        jvm: The JVM.
        name: Of the source and of the class, which may have no others in it.
        beside: Full name of the other class.
    """
    other, full = jvm.cls("java.lang.Class").forName(beside), f"{beside.rpartition('.')[0]}.{name}"
    try:
        return other.getClassLoader().loadClass(full)
    except Py4JError:
        with zipfile.ZipFile(class_jar(jvm, name, source(name))) as jar:
            code = jar.read(full.replace(".", "/") + ".class")
        return new_instance(jvm, _DEFINER).apply(other, code)


def shared_constructor(jvm: Jvm, name: str) -> JavaObject:
    """The one constructor of a class; executors get the class with its jar.

    Raises:
        Py4JError, OSError: It cannot be had in this Spark.
    """
    key = ("constructor", name)
    if key not in jvm.shared:
        jar = class_jar(jvm, name.lower(), source(name))
        jvm.context._jsc.sc().addJar(str(jar))
        jvm.shared[key] = jvm.items(load_class(jvm, jar, name).getConstructors())[0]
    return jvm.shared[key]


@contextmanager
def findable(jvm: Jvm, name: str) -> Iterator[JavaObject]:
    """Lets Spark find a class of a source by its full name in the block: in this thread, and in those that it starts.

    Args:
        jvm: The JVM.
        name: Of the source and of the class.
    """
    found = load_class(jvm, class_jar(jvm, name, source(name)), name)
    # A Python thread has a Java thread of its own.
    thread = jvm.cls("java.lang.Thread").currentThread()
    before = thread.getContextClassLoader()
    thread.setContextClassLoader(found.getClassLoader())
    try:
        yield found
    finally:
        thread.setContextClassLoader(before)


def function(jvm: Jvm, name: str, class_name: str | None = None) -> JavaObject | None:
    """An object of a class of the driver, a ``BiFunction``; ``None`` where there is none, so that Python does without.

    Args:
        jvm: The JVM.
        name: Of the source.
        class_name: Where it is another one.
    """
    key = ("function of Java", name)
    if key not in jvm.shared:
        jvm.shared[key] = _function(jvm, name, class_name or name)
    return jvm.shared[key]


def first_line(error: Exception) -> str:
    """Why a class cannot be had."""
    java = getattr(error, "java_exception", None)
    return str(error if java is None else java.toString()).strip().partition("\n")[0]


def _function(jvm: Jvm, name: str, class_name: str) -> JavaObject | None:
    if os.environ.get(_SWITCH, "true").lower() == "false":
        return None
    try:
        made = load_class(jvm, class_jar(jvm, name, source(name)), class_name)
        return jvm.items(made.getConstructors())[0].newInstance(jvm.array("java.lang.Object", []))
    except (Py4JError, OSError) as error:
        # Python does it as well, so whatever a Spark of another kind says is no error.
        _log.warning("%s%s cannot be loaded, so planning takes longer: %s", PACKAGE, name, first_line(error))
        return None


def _compiled(jvm: Jvm, text: str) -> dict[str, bytes]:
    compiler = jvm.cls("org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(_parent(jvm))
    compiler.cook(text)
    return {str(name): bytes(code) for name, code in compiler.getBytecodes().items()}


def _parent(jvm: Jvm) -> JavaObject:
    return jvm.cls("org.apache.spark.util.Utils").getContextOrSparkClassLoader()
