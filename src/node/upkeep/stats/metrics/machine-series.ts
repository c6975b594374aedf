import type { MachineIdentity, MachineParts } from "../../../../host/port.ts";
import type { NodeReadings } from "../node-stats.ts";
import type { SampleLabels } from "./measured-subject.ts";
import type { MetricFamily } from "./metric-page.ts";

/** What the page tells of the machine. */
export type MachineFacts = MachineParts &
  Omit<MachineIdentity, "architecture"> & {
    readonly cpuCores: number;
  };

type Amounts = Pick<NodeReadings["node"], "memoryCapacityBytes" | "swapCapacityBytes">;

/** Computes the series of the machine and of the versions on it, by the names of cadvisor's metrics/prometheus_machine.go. */
export function computeMachineSeries(machine: MachineFacts, amounts: Amounts): MetricFamily[] {
  const labels = { boot_id: machine.bootId, machine_id: machine.machineId, system_uuid: machine.systemUuid };
  const many = (
    name: string,
    help: string,
    values: ReadonlyArray<{ readonly value: number; readonly more: SampleLabels }>,
  ): MetricFamily => ({
    name,
    help,
    type: "gauge",
    samples: values.map(({ value, more }) => ({ labels: { ...labels, ...more }, value })),
  });
  const one = (name: string, help: string, value: number) => many(name, help, [{ value, more: {} }]);
  const modules = (countOf: (counts: { readonly count: number; readonly bytes: number }) => number) =>
    machine.memoryModules.map((counts) => ({ value: countOf(counts), more: { type: counts.type } }));
  return [
    one("machine_cpu_physical_cores", "Number of physical CPU cores.", machine.physicalCores),
    one("machine_cpu_cores", "Number of logical CPU cores.", machine.cpuCores),
    one("machine_cpu_sockets", "Number of CPU sockets.", machine.sockets),
    // Mainframes alone are built of books and drawers.
    one("machine_cpu_books", "Number of CPU books.", 0),
    one("machine_cpu_drawers", "Number of CPU drawers.", 0),
    one("machine_memory_bytes", "Amount of memory installed on the machine.", amounts.memoryCapacityBytes),
    one("machine_swap_bytes", "Amount of swap memory available on the machine.", amounts.swapCapacityBytes),
    many(
      "machine_dimm_count",
      "Number of RAM DIMM (all types memory modules) value labeled by dimm type.",
      modules(({ count }) => count),
    ),
    many(
      "machine_dimm_capacity_bytes",
      "Total RAM DIMM capacity (all types memory modules) value labeled by dimm type.",
      modules(({ bytes }) => bytes),
    ),
    ...computeLastingMemory(many),
    { name: "cadvisor_version_info", help: VERSION_HELP, type: "gauge", samples: [versionsOf(machine)] },
    { name: "machine_scrape_error", help: SCRAPE_ERROR_HELP, type: "gauge", samples: [{ value: 0 }] },
  ];
}

const VERSION_HELP =
  "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.";
const SCRAPE_ERROR_HELP = "1 if there was an error while getting machine metrics, 0 otherwise.";

function versionsOf({ kernelRelease, osImage }: MachineFacts) {
  const own = { cadvisorRevision: "", cadvisorVersion: "", dockerVersion: "" };
  return { labels: { ...own, kernelVersion: kernelRelease, osVersion: osImage }, value: 1 };
}

/** A kubelet is built without the library that knows of such memory, and says 0 too. */
function computeLastingMemory(
  many: (name: string, help: string, values: ReadonlyArray<{ value: number; more: SampleLabels }>) => MetricFamily,
): MetricFamily[] {
  const modes = ["memory_mode", "app_direct_mode"].map((mode) => ({ value: 0, more: { mode } }));
  return [
    many("machine_nvm_capacity", "NVM capacity value labeled by NVM mode (memory mode or app direct mode).", modes),
    many("machine_nvm_avg_power_budget_watts", "NVM power budget.", [{ value: 0, more: {} }]),
  ];
}
