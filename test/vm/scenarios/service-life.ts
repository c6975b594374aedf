import { createPod, deletePods, readPid, untilReady, whoRuns } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { MANIFESTS, replaceProcess, untilServiceAnswers } from "./service.ts";

const BAD = "bad.yaml";
/** Longer than systemd waits until it starts a service anew that has ended by itself. */
const RESTART_SECONDS = 10;

/** What an administrator does to any service, and looks at. */
export const serviceLife: Scenario = {
  name: "service-life",
  promise:
    "the journal tells a bad manifest as a warning, a service that hangs is started anew, and nodelet down stops it; pods run on",
  run: async (at) => {
    await createPod(at, "lasting");
    const before = whoRuns(await untilReady(at, "lasting"));
    const expectLasting = async (what: string): Promise<void> => {
      const now = whoRuns(await untilReady(at, "lasting"));
      if (at.machine.keepsShims) expectSame(now, before, `the pod's container after ${what}`);
    };
    await expectWarning(at);
    await replaceProcess(at, "up", "STOP");
    const journal = await at.machine.read("journalctl --boot --unit nodelet --output cat | grep -i watchdog | tail -1");
    at.note(journal);
    await expectLasting("the watchdog");
    await expectDown(at);
    await expectLasting("nodelet down");
    await deletePods(at, "lasting");
  },
};

/** Whoever looks after a service looks at what its journal has of warnings and errors. */
async function expectWarning(at: Stage): Promise<void> {
  await at.machine.read(`echo '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a_b"}}' > ${MANIFESTS}/${BAD}`);
  const warnings = "journalctl --boot --unit nodelet --priority warning --output cat";
  at.note(await until(at, `${warnings} | grep ${BAD} | tail -1`, (line) => line.includes("metadata.name")));
  const status = await at.machine.read(`nodelet status | grep ${BAD}`);
  expectTrue(/Failed.*metadata\.name/.test(status), `nodelet status says of a bad manifest: ${status}`);
  await at.machine.read(`rm ${MANIFESTS}/${BAD}`);
  await until(at, "nodelet status", (output) => !output.includes(BAD));
}

/** systemd would start a process of its service anew that ends by a signal. */
async function expectDown(at: Stage): Promise<void> {
  const pid = await readPid(at, "lasting");
  at.note(await at.machine.read("nodelet down"));
  const state = await at.machine.read(`sleep ${RESTART_SECONDS}; systemctl is-active nodelet || true`);
  expectSame(state, "inactive", "the service after nodelet down");
  if (at.machine.keepsShims) await at.machine.read(`kill -0 ${pid}`);
  const status = await at.machine.read("nodelet status 2>&1 || true");
  expectTrue(status.includes("systemctl start nodelet"), `nodelet status does not say how to go on: ${status}`);
  await at.machine.read("systemctl start nodelet");
  await untilServiceAnswers(at);
}
