import { expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import type { ProgramOutcome } from "../../host/programs-port.ts";
import type { StaleFlow } from "../rules/rule-compiler.ts";
import { createFlowEraser } from "./forget-flows.ts";

const signal = new AbortController().signal;

/** As conntrack prints them: a connection of a service, one of a node port, one without an answer. */
const LIST = `udp      17 170 src=10.64.0.9 dst=10.96.0.10 sport=4242 dport=53 src=10.64.0.5 dst=10.64.0.9 sport=53 dport=4242 [ASSURED] mark=0 use=1
udp      17 20 src=192.0.2.9 dst=192.0.2.2 sport=99 dport=30053 [UNREPLIED] src=10.64.0.6 dst=10.64.0.1 sport=53 dport=99 mark=0 use=1
udp      17 20 src=10.64.0.9 dst=10.96.0.11 sport=7 dport=53 [UNREPLIED] src=10.96.0.11 dst=10.64.0.9 sport=53 dport=7 mark=0 use=1
`;

async function forget(flows: readonly StaleFlow[], list: ProgramOutcome) {
  const calls: string[] = [];
  const warnings: string[] = [];
  const programs = {
    async run({ args }: { readonly args: readonly string[] }): Promise<ProgramOutcome> {
      calls.push(args.join(" "));
      return args[0] === "-L" ? list : { kind: "printed", stdout: Buffer.alloc(0) };
    },
  };
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  await createFlowEraser({ programs, log })(flows, signal);
  return { calls, warnings };
}

const flow = (fields: Partial<StaleFlow>): StaleFlow => ({
  ...{ family: "ip", protocol: "udp", destination: "10.96.0.10", port: 53, endpoint: undefined },
  ...fields,
});
const absent = Array.from({ length: 5000 }, (_, index) => flow({ destination: `10.97.${index >> 8}.${index & 255}` }));
const printed: ProgramOutcome = { kind: "printed", stdout: Buffer.from(LIST) };

it("asks for the few that there are one by one", async () => {
  const { calls } = await forget(
    [flow({ endpoint: { ip: "10.64.0.5", port: 53 } }), flow({ family: "ip6", destination: "fd00::1" })],
    printed,
  );
  expect(calls).toEqual([
    "-D -p udp --orig-dst 10.96.0.10 --orig-port-dst 53 --dst-nat 10.64.0.5 --reply-port-src 53",
    "-D -f ipv6 -p udp --orig-dst fd00::1 --orig-port-dst 53",
  ]);
});

it("looks once which of thousands there are, and forgets only those", async () => {
  const present = [
    flow({ endpoint: { ip: "10.64.0.5", port: 53 } }),
    flow({ destination: undefined, port: 30053, endpoint: { ip: "10.64.0.6", port: 53 } }),
    flow({ destination: "10.96.0.11" }),
  ];
  const gone = [
    flow({ endpoint: { ip: "10.64.0.7", port: 53 } }),
    flow({ endpoint: { ip: "10.64.0.5", port: 5353 } }),
    flow({ destination: undefined, port: 30054 }),
  ];
  const { calls } = await forget([...absent, ...present, ...gone], printed);
  expect(calls).toEqual([
    "-L -p udp",
    "-D -p udp --orig-dst 10.96.0.10 --orig-port-dst 53 --dst-nat 10.64.0.5 --reply-port-src 53",
    "-D -p udp --orig-port-dst 30053 --dst-nat 10.64.0.6 --reply-port-src 53",
    "-D -p udp --orig-dst 10.96.0.11 --orig-port-dst 53",
  ]);
});

it("says that it could not look, and that the program is missing", async () => {
  const failed = { kind: "failed", cause: "timed-out", problem: "did not end", exitCode: undefined } as const;
  const hung = await forget(absent, { ...failed, stdout: Buffer.alloc(0), stderr: "" });
  expect(hung.calls).toEqual(["-L -p udp"]);
  expect(hung.warnings).toEqual(["stale connections could not be looked for, and are not forgotten"]);
  const missing = await forget(absent, { kind: "missing" });
  expect(missing.warnings).toEqual(["conntrack is not installed: UDP clients may keep endpoints that are gone"]);
});
