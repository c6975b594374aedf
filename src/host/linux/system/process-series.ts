import { readdirSync } from "node:fs";
import { type CounterSeries, declareStartTime, type Metrics } from "../../../base/metrics.ts";
import { readKernelFile } from "../cgroups/kernel-files.ts";

const MICROSECONDS = 1e6;
/** Prometheus' own libraries write a missing limit like this. */
const UNLIMITED = 2 ** 64;
/** A field of proc_pid_stat(5), counted after the name of the program. */
const VIRTUAL_BYTES_FIELD = 20;

/**
 * Declares the series that every program for Prometheus has about itself, under the common names. They are read for
 * each page. A value that the kernel does not tell is NaN.
 */
export function declareProcessSeries(metrics: Metrics): void {
  const cpu = metrics.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
  const gauge = (name: string, help: string) => metrics.gauge(`process_${name}`, help);
  declareStartTime(metrics, performance.timeOrigin);
  const resident = gauge("resident_memory_bytes", "Resident memory size in bytes.");
  const virtual = gauge("virtual_memory_bytes", "Virtual memory size in bytes.");
  const maxVirtual = gauge("virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.");
  const openFiles = gauge("open_fds", "Number of open file descriptors.");
  const maxFiles = gauge("max_fds", "Maximum number of open file descriptors.");
  const received = metrics.counter(
    "process_network_receive_bytes_total",
    "Number of bytes received by the process over the network.",
  );
  const sent = metrics.counter(
    "process_network_transmit_bytes_total",
    "Number of bytes sent by the process over the network.",
  );
  const [countCpu, countReceived, countSent] = [followTotal(cpu), followTotal(received), followTotal(sent)];
  metrics.beforeRender(() => {
    const { user, system } = process.cpuUsage();
    countCpu((user + system) / MICROSECONDS);
    const traffic = readTraffic();
    countReceived(traffic.received);
    countSent(traffic.sent);
    resident.set(process.memoryUsage.rss());
    virtual.set(readVirtualBytes());
    openFiles.set(countOpenFiles());
    const limits = readKernelFile("/proc/self/limits") ?? "";
    maxFiles.set(readLimit(limits, "Max open files"));
    maxVirtual.set(readLimit(limits, "Max address space"));
  });
}

/** Adds the growth of a total that is kept elsewhere. */
function followTotal(series: CounterSeries<never>): (total: number) => void {
  let counted = 0;
  return (total) => {
    series.add(undefined, Math.max(0, total - counted));
    counted = Math.max(counted, total);
  };
}

/** The traffic of the network that the process is in, which for a node agent is the machine's. */
function readTraffic(): { received: number; sent: number } {
  const lines = (readKernelFile("/proc/self/net/dev") ?? "").split("\n").slice(2);
  const counters = lines.map((line) =>
    line
      .slice(line.indexOf(":") + 1)
      .trim()
      .split(/\s+/)
      .map(Number),
  );
  const sum = (field: number) => counters.reduce((total, values) => total + (values[field] ?? 0), 0);
  return { received: sum(0), sent: sum(8) };
}

function readVirtualBytes(): number {
  const stat = readKernelFile("/proc/self/stat") ?? "";
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[VIRTUAL_BYTES_FIELD] ?? Number.NaN);
}

/** Counts the open files without the one that the reading itself opens. */
function countOpenFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return Number.NaN;
  }
}

function readLimit(limits: string, name: string): number {
  const line = limits.split("\n").find((one) => one.startsWith(name)) ?? "";
  const [soft] = line.slice(name.length).trim().split(/\s+/);
  return soft === "unlimited" ? UNLIMITED : Number(soft || Number.NaN);
}
