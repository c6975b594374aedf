import type { Container, Pod, PodSpec } from "../../src/api/gen/types.ts";
import { isRestartableInitContainer } from "../../src/api/pods.ts";
import type { FakeImage } from "../../src/cri/fake/fake-images.ts";
import type { Dice } from "./dice.ts";

/** What a container's process does, told by its command. */
type Behaviour =
  /** `polite`: ends on SIGTERM with 0; else only SIGKILL ends it. */
  { kind: "runs"; polite: boolean } | { kind: "exits"; afterSeconds: number; code: number } | { kind: "cannot-start" };

const PRESENT = "localhost/demo:1";
const OTHER = "localhost/demo:2";
const SLOW = "registry.test/slow:1";
const MISSING = "registry.test/missing:1";

/** On the node, and one as good as the other. */
export const IMAGES: readonly string[] = [PRESENT, OTHER];
export const NODE_IMAGES: readonly FakeImage[] = IMAGES.map((ref) => ({ ref }));
export const REGISTRY_IMAGES: readonly FakeImage[] = [{ ref: SLOW, pullMs: 4_000 }];

export function behaviourOf({ command = [] }: Container): Behaviour {
  const [program, , script = ""] = command;
  if (program === "sleep") return { kind: "runs", polite: false };
  const exits = /^sleep ([\d.]+); exit (\d+)$/.exec(script);
  if (exits !== null) return { kind: "exits", afterSeconds: Number(exits[1]), code: Number(exits[2]) };
  return script.startsWith("trap") ? { kind: "runs", polite: true } : { kind: "cannot-start" };
}

export function hasMissingImage({ image }: Container): boolean {
  return image === MISSING;
}

/** Its pod may be kept busy by a pull. */
export function hasRemoteImage(pod: Pod): boolean {
  return containersOf(pod).some(({ image = "" }) => !IMAGES.includes(image));
}

export function containersOf({ spec }: Pod): Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

export function gracePeriodMs(pod: Pod): number {
  return Math.max(1, pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
}

export function restartsAfterExit(pod: Pod, name: string, exitCode: number): boolean {
  const init = pod.spec?.initContainers?.find((container) => container.name === name);
  if (init !== undefined && isRestartableInitContainer(init)) return true;
  const policy = pod.spec?.restartPolicy ?? "Always";
  if (init !== undefined) return exitCode !== 0 && policy !== "Never";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

/** `stays`: it neither ends nor gets anywhere for ever, or it runs for ever. */
type Outcome = "Succeeded" | "Failed" | "stays";

/** How an undisturbed pod ends, by its script. */
export function outcomeOf(pod: Pod): Outcome {
  const { initContainers = [], containers = [], restartPolicy } = pod.spec ?? { containers: [] };
  for (const init of initContainers) {
    const ends = endOf(init);
    if (isRestartableInitContainer(init)) {
      if (ends === "never" || (ends !== undefined && behaviourOf(init).kind === "cannot-start")) return "stays";
    } else if (ends !== 0) return typeof ends === "number" && restartPolicy === "Never" ? "Failed" : "stays";
  }
  const ends = containers.map(endOf);
  if (restartPolicy === "Always" || ends.some((end) => typeof end !== "number")) return "stays";
  if (ends.every((end) => end === 0)) return "Succeeded";
  return restartPolicy === "Never" ? "Failed" : "stays";
}

/** The exit code; undefined for one that runs for ever, "never" for one that is never made. */
function endOf(container: Container): number | "never" | undefined {
  if (hasMissingImage(container)) return "never";
  const behaviour = behaviourOf(container);
  if (behaviour.kind === "exits") return behaviour.code;
  return behaviour.kind === "cannot-start" ? 128 : undefined;
}

const RUNS_POLITELY = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 3600 & wait; done"];

function randomCommand(dice: Dice, weights: { runs: number; fails: number }): string[] {
  if (dice.chance(weights.runs)) return dice.chance(0.7) ? RUNS_POLITELY : ["sleep", "infinity"];
  if (dice.chance(0.1)) return ["no-such-program"];
  const code = dice.chance(weights.fails) ? dice.whole(1, 3) : 0;
  return ["sh", "-c", `sleep ${dice.pick([0.2, 1, 3, 8, 20])}; exit ${code}`];
}

function randomImage(dice: Dice): string {
  if (dice.chance(0.9)) return PRESENT;
  return dice.chance(0.6) ? SLOW : MISSING;
}

/** A pod as a manifest has it. `variant` makes two of one name differ. */
export function randomPod(dice: Dice, name: string, variant: number): Pod {
  const container = (containerName: string, weights: { runs: number; fails: number }): Container => ({
    name: containerName,
    image: randomImage(dice),
    command: randomCommand(dice, weights),
  });
  const mains = Array.from({ length: dice.pick([1, 1, 1, 2, 3]) }, (_, index) =>
    container(`main-${index}`, { runs: 0.5, fails: 0.4 }),
  );
  const inits = Array.from({ length: dice.pick([0, 0, 0, 1, 2]) }, (_, index) =>
    container(`init-${index}`, { runs: 0, fails: 0.15 }),
  );
  if (dice.chance(0.2)) {
    const sidecar = { ...container("sidecar", { runs: 0.8, fails: 0.5 }), restartPolicy: "Always" };
    inits.splice(dice.whole(0, inits.length), 0, sidecar);
  }
  const [first] = mains;
  if (first !== undefined && dice.chance(0.15)) {
    first.lifecycle = { preStop: { exec: { command: ["sh", "-c", `sleep ${dice.pick([0.3, 1.4])}`] } } };
  }
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { variant: String(variant) } },
    spec: {
      restartPolicy: dice.pick(["Always", "Always", "OnFailure", "Never"]),
      terminationGracePeriodSeconds: dice.pick([1, 3, 10, 30]),
      hostNetwork: dice.chance(0.15),
      ...(inits.length > 0 && { initContainers: inits }),
      containers: mains,
      ...(dice.chance(0.3) && giveScratch([...mains, ...inits], variant)),
    },
  };
}

/** A volume of the pod's own on the disk or in memory, that containers mount as a whole or a part of. */
function giveScratch(containers: readonly Container[], variant: number): Pick<PodSpec, "volumes"> {
  for (const [index, container] of containers.entries()) {
    const part = (variant + index) % 3 === 0 ? { subPath: `${container.name}/work` } : {};
    container.volumeMounts = [{ name: "scratch", mountPath: "/scratch", ...part }];
  }
  return { volumes: [{ name: "scratch", emptyDir: variant % 2 === 0 ? {} : { medium: "Memory" } }] };
}
