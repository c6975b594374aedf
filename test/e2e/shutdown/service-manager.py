"""Stands in for the service manager (PID 1) on a test's own bus, as far as logind asks it: units are there, a job to start
one is taken and done nothing about, and logind is told to read its configuration again. Argument: the process of logind.

SIGUSR1: the jobs are given up, by which logind calls the shutdown off.
"""

import os
import signal
import sys

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

MANAGER = "org.freedesktop.systemd1.Manager"
PROPERTIES = "org.freedesktop.DBus.Properties"
ROOT = "/org/freedesktop/systemd1"


class Manager(dbus.service.Object):
    jobs = 0

    @dbus.service.method(MANAGER, in_signature="ss", out_signature="o")
    def StartUnit(self, name, mode):
        self.jobs += 1
        return f"{ROOT}/job/{self.jobs}"

    @dbus.service.method(MANAGER, in_signature="ssi")
    def KillUnit(self, name, who, number):
        os.kill(int(sys.argv[1]), number)

    @dbus.service.method(MANAGER)
    def Subscribe(self):
        pass

    @dbus.service.signal(MANAGER, signature="uoss")
    def JobRemoved(self, number, job, unit, result):
        pass

    def give_up(self):
        for number in range(1, self.jobs + 1):
            self.JobRemoved(number, f"{ROOT}/job/{number}", "poweroff.target", "canceled")
        return True


class Units(dbus.service.FallbackObject):
    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return "loaded"


DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
name = dbus.service.BusName("org.freedesktop.systemd1", bus)
manager = Manager(bus, ROOT)
units = Units(bus, f"{ROOT}/unit")
GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, manager.give_up)
print("ready", flush=True)
GLib.MainLoop().run()
