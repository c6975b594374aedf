import fc from "fast-check";
import { makeContainer, makePod, makeRuntimeStatus, makeSandbox } from "./runtime-status.ts";

export const INIT_NAMES = ["a", "b", "c"];
export const MAIN_NAMES = ["x", "y"];

const pods = fc
  .record({
    restartPolicy: fc.constantFrom("Always", "OnFailure", "Never"),
    sidecars: fc.array(fc.boolean(), { maxLength: INIT_NAMES.length }),
    mains: fc.integer({ min: 1, max: MAIN_NAMES.length }),
    ephemeral: fc.boolean(),
  })
  .map(({ restartPolicy, sidecars, mains, ephemeral }) =>
    makePod({
      restartPolicy,
      init: sidecars.map((isSidecar, index) => `${INIT_NAMES[index]}${isSidecar ? "*" : ""}`),
      main: MAIN_NAMES.slice(0, mains),
      ephemeral: ephemeral ? ["e"] : [],
    }),
  );

const sandboxes = fc
  .array(fc.record({ ready: fc.boolean(), addressed: fc.boolean() }), { maxLength: 3 })
  .map((list) =>
    list
      .map(({ ready, addressed }, attempt) =>
        makeSandbox({ attempt, state: ready ? "ready" : "notready", ips: addressed ? ["10.0.0.7"] : [] }),
      )
      .reverse(),
  );

const containers = fc
  .array(
    fc.record({
      name: fc.constantFrom(...INIT_NAMES, ...MAIN_NAMES, "e"),
      state: fc.constantFrom("created", "running", "exited:0", "exited:1", "unknown"),
      sandbox: fc.integer({ min: 0, max: 2 }),
      hash: fc.constantFrom("same", "same", "same", "other"),
    }),
    { maxLength: 10 },
  )
  .map((list) =>
    list
      .map(({ name, state, sandbox, hash }, restartCount) =>
        makeContainer(`${name} ${state}`, { restartCount, sandboxId: `sandbox-${sandbox}`, hash }),
      )
      .reverse(),
  );

/** Containers newest first, over several sandboxes. */
export const statuses = fc.tuple(containers, sandboxes).map(([some, boxes]) => makeRuntimeStatus(some, boxes));
/** Any pod, and anything that the runtime may hold of it, however unlikely. */
export const worlds = fc.record({ pod: pods, status: statuses });
