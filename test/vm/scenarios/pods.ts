import type { Container, Node, Pod, PodSpec } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { type Stage, until } from "./scenario.ts";

const PODS = "/api/v1/namespaces/default/pods";

/** What a scenario's pod has besides a name; `script` runs in a shell of the demo image, by default until it is told to end. */
interface PodChoices {
  readonly script?: string;
  readonly container?: Partial<Container>;
  readonly spec?: Partial<PodSpec>;
  readonly annotations?: Record<string, string>;
}

/** Runs until it is told to end, at once. */
const WAITING = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";

/** A pod of one container, `main`. */
export function composePod(name: string, choices: PodChoices = {}): Pod {
  const { script = WAITING, container, spec, annotations } = choices;
  const main = { name: "main", image: DEMO_IMAGE, command: ["sh", "-c", script], ...container };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...(annotations !== undefined && { annotations }) },
    spec: { terminationGracePeriodSeconds: 30, containers: [main], ...spec },
  };
}

/** Creates it by the API. */
export async function createPod(at: Stage, name: string, choices: PodChoices = {}): Promise<void> {
  await at.machine.read(`ask-api POST ${PODS} <<'EOF'\n${JSON.stringify(composePod(name, choices))}\nEOF`);
}

/** Reads a pod. Rejects where there is none. */
export async function readPod(at: Stage, name: string): Promise<Pod> {
  return JSON.parse(await at.machine.read(`ask-api GET ${PODS}/${name}`));
}

/** Reads what the pod's container has printed. */
export async function readLog(at: Stage, name: string): Promise<string> {
  return await at.machine.read(`ask-api GET ${PODS}/${name}/log`);
}

/** The machine's ID of the first process of the pod's container, which is a shell. */
export async function readPid(at: Stage, name: string): Promise<string> {
  const uid = (await readPod(at, name)).metadata?.uid ?? "";
  const isOfPod = `grep -q '${uid.replaceAll("-", "[-_]")}' /proc/$pid/cgroup`;
  return await at.machine.read(`for pid in $(pgrep -x sh); do ${isOfPod} && echo $pid && exit 0; done; exit 1`);
}

/** The ID of the pod's first container, if that runs. */
export function idOfRunning({ status }: Pod): string | undefined {
  const [main] = status?.containerStatuses ?? [];
  return main?.state?.running === undefined ? undefined : main.containerID;
}

/** Tells the container that runs, and how often it was begun anew. */
export function whoRuns(pod: Pod): string {
  return `${idOfRunning(pod)}, begun anew ${pod.status?.containerStatuses?.[0]?.restartCount} times`;
}

/** Waits until the pod is so, and returns it. */
export async function untilPod(at: Stage, name: string, isRight: (pod: Pod) => boolean): Promise<Pod> {
  const parse = (text: string): Pod => JSON.parse(text);
  return parse(await until(at, `ask-api GET ${PODS}/${name}`, (output) => isRight(parse(output))));
}

/** Waits until each container of the pod is ready. */
export async function untilReady(at: Stage, name: string): Promise<Pod> {
  return await untilPod(at, name, isReady);
}

/** True where the pod's own condition says so. */
function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

/** Deletes pods and waits until they are gone. */
export async function deletePods(at: Stage, ...names: readonly string[]): Promise<void> {
  for (const name of names) await at.machine.run(`ask-api DELETE ${PODS}/${name}`);
  for (const name of names)
    await until(at, `ask-api GET ${PODS}/${name}; true`, (output) => output.includes('"NotFound"'));
}

/** The directory of the pod's cgroup, by the name that systemd gives its slice. */
export async function readPodCgroup(at: Stage, pod: Pod): Promise<string> {
  const uid = (pod.metadata?.uid ?? "").replaceAll("-", "_");
  return await at.machine.read(`find /sys/fs/cgroup/nodelet* -type d -name '*pod${uid}.slice'`);
}

/** Waits until the API says that the node is ready. */
export async function untilNodeReady(at: Stage): Promise<void> {
  await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (output) => {
    const node: Node = JSON.parse(output);
    return node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  });
}
