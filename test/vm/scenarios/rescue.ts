import { createPod, deletePods, untilNodeReady, untilReady, whoRuns } from "./pods.ts";
import { expectSame, type Scenario, until } from "./scenario.ts";
import { untilServiceAnswers } from "./service.ts";

/** An administrator repairs something without the services, and goes back. */
export const rescue: Scenario = {
  name: "rescue",
  promise: "systemctl isolate rescue ends the service and no pod, and pods run on in the same containers after it",
  run: async (at) => {
    const { machine } = at;
    await createPod(at, "lasting");
    const before = whoRuns(await untilReady(at, "lasting"));
    await machine.read("systemctl isolate --no-block rescue.target");
    await until(at, "systemctl is-active rescue.target nodelet || true", (output) => output === "active\ninactive\n");
    await machine.read("systemctl isolate --no-block multi-user.target");
    await untilServiceAnswers(at);
    await untilNodeReady(at);
    const now = whoRuns(await untilReady(at, "lasting"));
    at.note(now);
    if (machine.keepsShims) expectSame(now, before, "the pod's container after the rescue");
    await deletePods(at, "lasting");
  },
};
