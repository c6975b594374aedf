import { CodedError } from "../../base/errors.ts";
import type { ProgramOutcome, ProgramRun, Programs } from "../../host/programs-port.ts";
import type { AddressFamily } from "../rules/fragment.ts";

/** The rules of this machine, by the program `nft`. */
export interface Nftables {
  /**
   * Applies the statements in one transaction: all or none. Rejects with `nft-missing` or `nft-failed`, and with
   * AbortedError when the signal fires; the program has ended then.
   */
  apply(statements: readonly string[], signal?: AbortSignal): Promise<void>;
  /** The table as `nft` describes it in JSON; undefined where it does not exist. Rejects as `apply` does. */
  describe(family: AddressFamily, table: string, signal: AbortSignal): Promise<string | undefined>;
}

/** Rules of thousands of services take a slow machine many seconds, and a transaction that hangs holds up all others. */
const TIMEOUT_MS = 120_000;
const MAX_DESCRIPTION_BYTES = 256 * 1024 * 1024;
const MAX_REASON_CHARACTERS = 1_000;

/** Creates the door to the rules of the network namespace that this process is in. */
export function createNftables(programs: Pick<Programs, "run">): Nftables {
  const run = async (
    { args, stdin }: Pick<ProgramRun, "args" | "stdin">,
    signal: AbortSignal | undefined,
  ): Promise<ProgramOutcome> => {
    const call = {
      path: "nft",
      args,
      environment: {},
      timeoutMs: TIMEOUT_MS,
      output: { maxBytes: MAX_DESCRIPTION_BYTES, maxErrorBytes: 4 * MAX_REASON_CHARACTERS },
      ...(stdin !== undefined && { stdin }),
    };
    return await programs.run(call, signal);
  };
  return {
    async apply(statements, signal) {
      if (statements.length === 0) return;
      readOutput(await run({ args: ["-f", "-"], stdin: `${statements.join("\n")}\n` }, signal));
    },
    async describe(family, table, signal) {
      const outcome = await run({ args: ["-j", "list", "table", family, table] }, signal);
      // The program has one exit code for all failures.
      if (outcome.kind === "failed" && outcome.stderr.includes("No such file or directory")) return undefined;
      return readOutput(outcome);
    },
  };
}

function readOutput(outcome: ProgramOutcome): string {
  switch (outcome.kind) {
    case "printed":
      return outcome.stdout.toString("utf8");
    case "missing":
      throw new CodedError("nft-missing", "nft is not installed: install the package nftables");
    case "failed": {
      const said = (outcome.stderr || outcome.problem).slice(0, MAX_REASON_CHARACTERS);
      throw new CodedError("nft-failed", `nft refused the rules: ${said}`);
    }
  }
}

/** The statements that remove a table, whether it exists or not. */
export function removalOf(families: readonly AddressFamily[], table: string): string[] {
  return families.flatMap((family) => [`add table ${family} ${table}`, `delete table ${family} ${table}`]);
}
