import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Programs } from "../../host/programs-port.ts";
import type { StaleFlow } from "../rules/rule-compiler.ts";

const TIMEOUT_MS = 10_000;

interface ForgetDeps {
  readonly programs: Pick<Programs, "run">;
  readonly log: Log;
}

/**
 * Makes the kernel forget connections by the program `conntrack`. Where it is missing, UDP clients that keep sending go
 * on to endpoints that are gone until they pause; the log says so once.
 */
export function createFlowEraser({ programs, log }: ForgetDeps): (flows: readonly StaleFlow[]) => Promise<void> {
  let isToldMissing = false;
  return async (flows) => {
    for (const flow of flows) {
      const args = computeArguments(flow);
      const outcome = await programs.run({ path: "conntrack", args, environment: {}, timeoutMs: TIMEOUT_MS });
      if (outcome.kind === "missing") {
        if (!isToldMissing) log.warn("conntrack is not installed: UDP clients may keep endpoints that are gone");
        isToldMissing = true;
        return;
      }
      // The program fails where there was no such flow, which is the usual case.
      if (outcome.kind === "failed" && !outcome.stderr.includes("0 flow entries")) {
        log.warn("stale connections could not be forgotten", { ...flow, error: messageOf(outcome.problem) });
      }
    }
  };
}

function computeArguments({ family, protocol, destination, port, endpoint }: StaleFlow): string[] {
  return [
    "-D",
    ...(family === "ip6" ? ["-f", "ipv6"] : []),
    ...["-p", protocol],
    ...(destination === undefined ? [] : ["--orig-dst", destination]),
    ...["--orig-port-dst", `${port}`],
    ...(endpoint === undefined ? [] : ["--dst-nat", endpoint]),
  ];
}
