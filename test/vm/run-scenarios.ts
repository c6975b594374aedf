import { messageOf } from "../../src/base/errors.ts";
import type { Machine } from "./machines/machine.ts";
import type { Scenario, Stage } from "./scenarios/scenario.ts";

/** What a developer wants to see of a machine on which a scenario failed. */
const EVIDENCE = "systemctl --failed --no-legend; journalctl -u nodelet -n 40 --no-pager -o cat; nodelet status";
/** What a scenario that failed may have left behind, and would disturb those after it. */
const CLEAN_UP = `rm -f /manifests/* /etc/nodelet-vm.d/*; ask-api DELETE /api/v1/namespaces/default/pods > /dev/null
  for second in {1..300}; do ask-api GET /api/v1/namespaces/default/pods | grep -q '"phase"' || break; sleep 1; done`;
const MS_PER_SECOND = 1_000;

/** Runs the scenarios in order and prints TAP version 14. True where all have passed. */
export async function runScenarios(machine: Machine, scenarios: readonly Scenario[]): Promise<boolean> {
  console.log(`TAP version 14\n1..${scenarios.length}`);
  let failed = 0;
  for (const [index, scenario] of scenarios.entries()) {
    const { name, promise, run } = scenario;
    const reason = await findReason(machine, scenario);
    if (reason !== undefined) {
      console.log(`ok ${index + 1} - ${name}: ${promise} # SKIP ${reason}`);
      continue;
    }
    const startedAt = performance.now();
    const stage: Stage = { machine, note: (text) => console.log(indent(text, "# ")) };
    const problem = await run(stage).then(() => undefined, messageOf);
    if (problem !== undefined) failed++;
    const seconds = ((performance.now() - startedAt) / MS_PER_SECOND).toFixed(0);
    console.log(`${problem === undefined ? "ok" : "not ok"} ${index + 1} - ${name}: ${promise} # ${seconds} s`);
    if (problem !== undefined) console.log(indent(`---\n${problem}\n${await readEvidence(machine)}\n...`, "  "));
  }
  return failed === 0;
}

/** Why the scenario cannot run on this machine; undefined where it can. */
async function findReason(machine: Machine, { needs, lacks, wants }: Scenario): Promise<string | undefined> {
  if (needs !== undefined && needs !== machine.kind) return `needs --machine ${needs}`;
  if (lacks !== undefined || wants === undefined) return lacks;
  const { code } = await machine.run(`test -e ${wants}`);
  return code === 0 ? undefined : `the machine has no ${wants}`;
}

async function readEvidence(machine: Machine): Promise<string> {
  try {
    const { output } = await machine.run(EVIDENCE);
    await machine.run(CLEAN_UP);
    return output;
  } catch (error) {
    return `The machine says nothing: ${messageOf(error)}`;
  }
}

function indent(text: string, prefix: string): string {
  return text.replaceAll(/^/gm, prefix);
}
