import { throwIfAborted } from "../../base/abort.ts";
import type { Log } from "../../base/log.ts";
import type { ProgramOutcome, Programs } from "../../host/programs-port.ts";
import type { AddressFamily } from "../rules/fragment.ts";
import type { StaleFlow } from "../rules/rule-compiler.ts";

const TIMEOUT_MS = 10_000;
/** For more flows than these the kernel's connections are listed first, because most flows are not there. */
const MAX_UNLISTED = 8;
/** A list of a few hundred thousand connections. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

interface ForgetDeps {
  readonly programs: Pick<Programs, "run">;
  readonly log: Log;
}

/**
 * Makes the kernel forget connections by the program `conntrack`. Where it is missing, UDP clients that keep sending go
 * on to endpoints that are gone until they pause; the log says so once. Rejects with AbortedError only.
 */
export function createFlowEraser({
  programs,
  log,
}: ForgetDeps): (flows: readonly StaleFlow[], signal: AbortSignal) => Promise<void> {
  let isToldMissing = false;
  const run = async (args: readonly string[], signal: AbortSignal): Promise<ProgramOutcome> => {
    throwIfAborted(signal);
    const output = { maxBytes: MAX_LIST_BYTES };
    const outcome = await programs.run(
      { path: "conntrack", args, environment: {}, timeoutMs: TIMEOUT_MS, output },
      signal,
    );
    if (outcome.kind === "missing" && !isToldMissing) {
      log.warn("conntrack is not installed: UDP clients may keep endpoints that are gone");
      isToldMissing = true;
    }
    return outcome;
  };
  /** Those of which the kernel has connections; all that would be forgotten needlessly costs a program each. */
  const findPresent = async (flows: readonly StaleFlow[], signal: AbortSignal): Promise<StaleFlow[]> => {
    const found: StaleFlow[] = [];
    for (const family of new Set(flows.map((flow) => flow.family))) {
      const outcome = await run(["-L", ...familyArguments(family), "-p", "udp"], signal);
      if (outcome.kind === "failed") {
        log.warn("stale connections could not be looked for, and are not forgotten", { error: outcome.problem });
      }
      if (outcome.kind !== "printed") continue;
      const known = readConnections(outcome.stdout.toString("latin1"));
      found.push(...flows.filter((flow) => flow.family === family && known.has(keyOf(flow))));
    }
    return found;
  };
  return async (flows, signal) => {
    const present = flows.length > MAX_UNLISTED ? await findPresent(flows, signal) : flows;
    for (const flow of present) {
      const outcome = await run(computeArguments(flow), signal);
      if (outcome.kind === "missing") return;
      // The program fails where there was no such flow, which is the usual case.
      if (outcome.kind === "failed" && !outcome.stderr.includes("0 flow entries")) {
        log.warn("stale connections could not be forgotten", { ...flow, error: outcome.problem });
      }
    }
  };
}

const familyArguments = (family: AddressFamily): string[] => (family === "ip6" ? ["-f", "ipv6"] : []);

function computeArguments({ family, protocol, destination, port, endpoint }: StaleFlow): string[] {
  return [
    "-D",
    ...familyArguments(family),
    ...["-p", protocol],
    ...(destination === undefined ? [] : ["--orig-dst", destination]),
    ...["--orig-port-dst", `${port}`],
    ...(endpoint === undefined ? [] : ["--dst-nat", endpoint.ip, "--reply-port-src", `${endpoint.port}`]),
  ];
}

/** A connection's first addresses are those of the client's packets, its second ones those of the answers. */
const CONNECTION = /^.*? dst=(\S+) .*?dport=(\d+) .*?src=(\S+) dst=\S+ sport=(\d+) /gm;

/** The keys of all flows of which there is a connection, whether they name an address and an endpoint or not. */
function readConnections(list: string): Set<string> {
  const keys = new Set<string>();
  for (const [, destination, port, ip = "", answering] of list.matchAll(CONNECTION)) {
    for (const called of [destination, undefined]) {
      for (const reached of [{ ip, port: Number(answering) }, undefined]) {
        keys.add(keyOf({ destination: called, port: Number(port), endpoint: reached }));
      }
    }
  }
  return keys;
}

function keyOf({ destination = "", port, endpoint }: Pick<StaleFlow, "destination" | "port" | "endpoint">): string {
  return `${destination} ${port} ${endpoint?.ip ?? ""} ${endpoint?.port ?? ""}`;
}
