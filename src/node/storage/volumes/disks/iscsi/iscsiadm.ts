import type { Programs } from "../../../../../host/programs-port.ts";
import { callProgram, ProgramError } from "../call-program.ts";

/** open-iscsi's program, as upstream calls it (pkg/volume/iscsi/iscsi_util.go). Each call rejects with its words. */
export interface Iscsiadm {
  /** The settings of an interface: `iface.transport_name` is `tcp`. Those without a value are left out. */
  readInterface(name: string): Promise<ReadonlyMap<string, string>>;
  /** Makes an interface, or changes the one that is there. */
  setInterface(name: string, settings: ReadonlyMap<string, string>): Promise<void>;
  /** Absent is fine. */
  deleteInterface(name: string): Promise<void>;
  /** Asks the portal for its targets. `secrets` undefined: without CHAP. */
  discover(portal: string, interfaceName: string, secrets: Secrets | undefined): Promise<void>;
  /** Begins a session with the target, which brings the disks that are asked for, and only these. */
  logIn(session: SessionName, secrets: Secrets | undefined): Promise<void>;
  /** Ends the session and forgets how it was made. Absent is fine. */
  logOut(session: SessionName): Promise<void>;
}

/** The settings that a Secret holds, by open-iscsi's names of them. */
type Secrets = Readonly<Record<string, string>>;

interface SessionName {
  readonly portal: string;
  readonly iqn: string;
  readonly interface: string;
}

/** iscsiadm's exit codes (open-iscsi, include/iscsi_err.h). */
const EXIT = { sessionNotFound: 2, badInterface: 7, sessionExists: 15, nothingFound: 21 } as const;
const CHAP_KEYS = ["username", "password", "username_in", "password_in"];

export function createIscsiadm(deps: { readonly programs: Pick<Programs, "run"> }, signal?: AbortSignal): Iscsiadm {
  const run = async (...args: string[]) => await callProgram(deps, { path: "iscsiadm", args, signal });
  const runIfThere = async (...args: string[]) => {
    await run(...args).catch(ignoreExit(EXIT.sessionNotFound, EXIT.nothingFound));
  };

  const isInterfaceThere = async (name: string): Promise<boolean> =>
    await run("-m", "iface", "-I", name, "-o", "show").then(
      () => true,
      (error: unknown) => {
        ignoreProgram(error);
        return false;
      },
    );

  const setSecrets = async (mode: readonly string[], prefix: string, secrets: Secrets) => {
    await run(...mode, "-o", "update", "-n", `${prefix}.authmethod`, "-v", "CHAP");
    for (const key of CHAP_KEYS.map((name) => `${prefix}.${name}`)) {
      const value = secrets[key];
      if (value) await run(...mode, "-o", "update", "-n", key, "-v", value);
    }
  };

  return {
    readInterface: async (name) => parseSettings(await run("-m", "iface", "-I", name, "-o", "show")),
    async setInterface(name, settings) {
      await run("-m", "iface", "-I", name, "-o", "new").catch(ignoreExit(EXIT.sessionExists));
      for (const [key, value] of [...settings].sort()) {
        await run("-m", "iface", "-I", name, "-o", "update", "-n", key, "-v", value);
      }
    },
    async deleteInterface(name) {
      await runIfThere("-m", "iface", "-I", name, "-o", "delete").catch(async (error: unknown) => {
        // One that is not there is told in the same way as one that cannot be read.
        if (exitCodeOf(error) !== EXIT.badInterface || (await isInterfaceThere(name))) throw error;
      });
    },
    async discover(portal, interfaceName, secrets) {
      const mode = ["-m", "discoverydb", "-t", "sendtargets", "-p", portal, "-I", interfaceName];
      // A record that is there is as good as a new one.
      await run(...mode, "-o", "new").catch(ignoreProgram);
      if (secrets) await setSecrets(mode, "discovery.sendtargets.auth", secrets);
      await run(...mode, "--discover").catch(async (error: unknown) => {
        await run(...mode, "-o", "delete").catch(ignoreProgram);
        throw error;
      });
    },
    async logIn({ portal, iqn, interface: name }, secrets) {
      const mode = ["-m", "node", "-p", portal, "-T", iqn, "-I", name];
      // Disks that nobody asked for would be there when the target takes them away (#90982).
      await run(...mode, "-o", "update", "-n", "node.session.scan", "-v", "manual").catch(ignoreProgram);
      if (secrets) await setSecrets(mode, "node.session.auth", secrets);
      await run(...mode, "--login").catch(async (error: unknown) => {
        if (exitCodeOf(error) === EXIT.sessionExists) return;
        await run(...mode, "-o", "delete").catch(ignoreProgram);
        throw error;
      });
      // The machine must not wait for the target at its next start.
      await run("-m", "node", "-p", portal, "-T", iqn, "-o", "update", "-n", "node.startup", "-v", "manual").catch(
        ignoreProgram,
      );
    },
    async logOut({ portal, iqn, interface: name }) {
      await runIfThere("-m", "node", "-p", portal, "-T", iqn, "--logout", "-I", name);
      await runIfThere("-m", "node", "-p", portal, "-T", iqn, "-o", "delete", "-I", name);
    },
  };
}

/** The name that an interface has for itself cannot be changed. */
const OWN_NAME = "iface.iscsi_ifacename";

function parseSettings(output: string): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const line of output.split("\n")) {
    const [, key, value] = /^(iface\.\S+) = (\S+)$/.exec(line.trim()) ?? [];
    if (key !== undefined && value !== undefined && value !== "<empty>" && key !== OWN_NAME) settings.set(key, value);
  }
  return settings;
}

function exitCodeOf(error: unknown): number | undefined {
  return error instanceof ProgramError ? error.exitCode : undefined;
}

function ignoreExit(...codes: readonly number[]): (error: unknown) => void {
  return (error) => {
    const code = exitCodeOf(error);
    if (code === undefined || !codes.includes(code)) throw error;
  };
}

/** What the program says does not matter, unless there is none. */
function ignoreProgram(error: unknown): void {
  if (error instanceof ProgramError && error.code === "failed") return;
  throw error;
}
