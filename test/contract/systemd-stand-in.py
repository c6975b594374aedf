"""Stands in for systemd on a test's own bus, as far as slices are asked of it. Prints each call, as JSON in a line."""

import json

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

MANAGER = "org.freedesktop.systemd1.Manager"
PROPERTIES = "org.freedesktop.DBus.Properties"
ROOT = "/org/freedesktop/systemd1"
JOB = f"{ROOT}/job/1"

units = set()


def tell(*call):
    print(json.dumps(call), flush=True)


class Manager(dbus.service.Object):
    @dbus.service.method(MANAGER, in_signature="ssa(sv)a(sa(sv))", out_signature="o")
    def StartTransientUnit(self, name, mode, properties, auxiliary):
        if name in units:
            raise dbus.DBusException(f"Unit {name} was already loaded or has a fragment file.",
                                     name="org.freedesktop.systemd1.UnitExists")
        units.add(name)
        tell("StartTransientUnit", name, mode, list(properties), list(auxiliary))
        return JOB

    @dbus.service.method(MANAGER, in_signature="sba(sv)")
    def SetUnitProperties(self, name, runtime, properties):
        tell("SetUnitProperties", name, bool(runtime), list(properties))

    @dbus.service.method(MANAGER, in_signature="ss", out_signature="o")
    def StartUnit(self, name, mode):
        units.add(name)
        tell("StartUnit", name, mode)
        return JOB

    @dbus.service.method(MANAGER, in_signature="ss", out_signature="o")
    def StopUnit(self, name, mode):
        units.discard(name)
        tell("StopUnit", name, mode)
        return JOB

    @dbus.service.method(MANAGER, in_signature="s")
    def ResetFailedUnit(self, name):
        tell("ResetFailedUnit", name)

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return "252.38-1"


class Units(dbus.service.FallbackObject):
    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v", path_keyword="path")
    def Get(self, interface, name, path=None):
        escaped = path.rsplit("/", 1)[1]
        running = ["".join(c if c.isalnum() else f"_{ord(c):02x}" for c in unit) for unit in units]
        return "active" if escaped in running else "inactive"


DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
name = dbus.service.BusName("org.freedesktop.systemd1", bus)
manager = Manager(bus, ROOT)
every = Units(bus, f"{ROOT}/unit")
tell("ready")
GLib.MainLoop().run()
