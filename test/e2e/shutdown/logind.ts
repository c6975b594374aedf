import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runAll } from "../../../src/base/errors.ts";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";

/**
 * systemd's own logind on a bus of the test's own. What it would start to power the machine off is asked of a stand-in for
 * the service manager, which does nothing of the kind.
 */
export interface LogindUnderTest {
  /** For `DBUS_SYSTEM_BUS_ADDRESS`. */
  readonly busAddress: string;
  /** Announces a shutdown, which then waits for those that delay it. */
  powerOff(): Promise<void>;
  /** What it would have started is given up. */
  callOff(): void;
  /** Who holds a shutdown up, and why. */
  delays(): Promise<string[]>;
  inhibitDelaySeconds(): Promise<number>;
  /** Ends the bus and all that is on it, and starts both anew. */
  restart(): Promise<void>;
  destroy(): Promise<void>;
}

const LOGIND = "/lib/systemd/systemd-logind";
const LOGIN1 = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"];
const DEADLINE_MS = 15_000;
/** In a mount namespace of its own: what it keeps in /run would be the machine's otherwise. */
const START_LOGIND = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/inhibit && exec ${LOGIND}`;

const BUS_CONFIGURATION = (
  socket: string,
) => `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
  </policy>
</busconfig>
`;

/** What is missing here, for a test that needs logind; undefined where nothing is. */
export async function findMissing(): Promise<string | undefined> {
  if (!existsSync(LOGIND)) return "systemd is not installed";
  const hasBindings = await runCommand("/usr/bin/python3", ["-c", "import dbus, gi"]).then(
    () => true,
    () => false,
  );
  return hasBindings ? undefined : "python3-dbus and python3-gi are not installed";
}

export async function startLogind(): Promise<LogindUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-logind-"));
  const socket = join(directory, "bus");
  const busAddress = `unix:path=${socket}`;
  const configuration = join(directory, "bus.conf");
  await writeFile(configuration, BUS_CONFIGURATION(socket));
  const env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: busAddress };
  let processes: ChildProcess[] = [];
  let serviceProcess: ChildProcess | undefined;

  const start = (command: string, args: readonly string[]) => {
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    processes.push(child);
    return child;
  };
  const busctl = async (...args: string[]) =>
    await runCommand("busctl", [`--address=${busAddress}`, "--json=short", ...args]);
  const property = async (name: string): Promise<unknown> => {
    const parsed: { data: unknown } = JSON.parse(await busctl("get-property", ...LOGIN1, name));
    return parsed.data;
  };
  const until = async (check: () => Promise<boolean>) => {
    const deadline = Date.now() + DEADLINE_MS;
    while (!(await check().catch(() => false))) {
      if (Date.now() > deadline) throw new Error(`logind is not there: ${check.toString()}`);
      await delay(20);
    }
  };
  const startAll = async () => {
    start("dbus-daemon", [`--config-file=${configuration}`, "--nofork", "--nopidfile"]);
    await until(async () => existsSync(socket));
    const logind = start("unshare", ["--mount", "sh", "-c", START_LOGIND]);
    await until(async () => (await property("PreparingForShutdown")) === false);
    const script = new URL("service-manager.py", import.meta.url).pathname;
    serviceProcess = start("/usr/bin/python3", [script, String(logind.pid)]);
    if (serviceProcess.stdout !== null) await once(serviceProcess.stdout, "data");
  };
  const endAll = async () => {
    const ended = processes.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    });
    processes = [];
    await Promise.all(ended);
    await rm(socket, { force: true });
  };

  await startAll();
  return {
    busAddress,
    powerOff: async () => void (await busctl("call", ...LOGIN1, "PowerOff", "b", "false")),
    callOff: () => void serviceProcess?.kill("SIGUSR1"),
    async delays() {
      const listed: { data: string[][][] } = JSON.parse(await busctl("call", ...LOGIN1, "ListInhibitors"));
      return (listed.data[0] ?? []).map(([what, who, why, mode]) => [what, who, why, mode].join("; "));
    },
    inhibitDelaySeconds: async () => Number(await property("InhibitDelayMaxUSec")) / 1_000_000,
    async restart() {
      await endAll();
      await startAll();
    },
    async destroy() {
      await runAll([endAll, async () => await rm(directory, { recursive: true, force: true })], "ending logind");
    },
  };
}
