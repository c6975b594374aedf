import { DEMO_IMAGE } from "../src/cluster/images/image-references.ts";

/** A pod's manifest, as it is written to a file. */
export interface Manifest {
  apiVersion: "v1";
  kind: "Pod";
  metadata: { name: string };
  spec: object;
}

/** Runs until it is told to stop, and then ends at once: no stop is timed that waits for a grace period. */
const RUN_FOR_EVER = "trap 'exit 0' TERM; sleep 100000 & wait";

export function sleepingPod(name: string): Manifest {
  return podOf(name, { containers: [shell("main", RUN_FOR_EVER)] });
}

/** The same with volumes, by their names; each is mounted at `/` and its name. */
export function mountingPod(name: string, volumes: Readonly<Record<string, object>>, spec: object = {}): Manifest {
  const names = Object.keys(volumes);
  const volumeMounts = names.map((volume) => ({ name: volume, mountPath: `/${volume}` }));
  return podOf(name, {
    containers: [{ ...shell("main", RUN_FOR_EVER), volumeMounts }],
    volumes: names.map((volume) => ({ name: volume, ...volumes[volume] })),
    ...spec,
  });
}

/** Has the keys of all these secrets in its environment, under names that do not meet. */
export function readingPod(name: string, secrets: readonly string[]): Manifest {
  const envFrom = secrets.map((secret, index) => ({ prefix: `S${index}_`, secretRef: { name: secret } }));
  return podOf(name, { containers: [{ ...shell("main", RUN_FOR_EVER), envFrom }] });
}

/** Fails at once, every time. */
export function crashingPod(name: string): Manifest {
  return podOf(name, { containers: [shell("main", "exit 1")] });
}

/** Fails a second after each start; the first restart is at once. */
export function failingPod(name: string): Manifest {
  return podOf(name, { containers: [shell("main", "sleep 1; exit 1")] });
}

/** Containers that end one after another, well apart, and are not started again. */
export function endingPod(name: string, containers: number): Manifest {
  const names = Array.from({ length: containers }, (_, index) => `ends-${index}`);
  return podOf(name, {
    restartPolicy: "Never",
    containers: names.map((container, index) => shell(container, `sleep ${(0.5 + index * 0.2).toFixed(1)}`)),
  });
}

function podOf(name: string, spec: object): Manifest {
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
}

function shell(name: string, script: string) {
  return { name, image: DEMO_IMAGE, command: ["sh", "-c", script] };
}
