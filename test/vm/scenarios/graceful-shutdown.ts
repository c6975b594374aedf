import { createPod, deletePods, readPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { untilServiceAnswers, withKubeletConfiguration } from "./service.ts";
import { HELD, isHeld, PERIODS } from "./shutdown-lock.ts";

const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";
/** Pods write here when they were told to end, and when they have ended. */
const DIARY = "/var/vm-shutdown";
const NAMES = ["ordinary", "important"] as const;
type Name = (typeof NAMES)[number];

/** Ends three seconds after it was told to, and puts both down. */
const LINGERING = (name: Name) =>
  `trap 'cut -d" " -f1 /proc/uptime > /diary/${name}.told; sleep 3; cut -d" " -f1 /proc/uptime > /diary/${name}.ended; sync; exit 0' TERM
   while :; do sleep 3600 & wait; done`;

/** An administrator switches the machine off while pods run. */
export const gracefulShutdown: Scenario = {
  name: "graceful-shutdown",
  promise:
    "at systemctl poweroff pods end in the order of their priorities, each within its time, and their statuses say why",
  run: async (at) => {
    const { machine } = at;
    await machine.read(`mkdir -p ${DIARY} && rm -f ${DIARY}/*`);
    const important = { metadata: { name: "important" }, value: 1000 };
    await machine.read(`ask-api POST ${CLASSES} <<'EOF'\n${JSON.stringify(important)}\nEOF`);
    await withKubeletConfiguration(at, PERIODS, async () => {
      await until(at, HELD, isHeld);
      await createLingering(at, "ordinary");
      await createLingering(at, "important", important.metadata.name);
      for (const name of NAMES) await untilReady(at, name);
      await machine.run("systemctl poweroff");
      await machine.untilOff();
      await machine.switchOn();
      await untilServiceAnswers(at);
      const { ended } = await readDiary(at, "ordinary");
      const { told } = await readDiary(at, "important");
      expectTrue(ended <= told, "the important pod was told to end before the ordinary one had ended");
      for (const name of NAMES) await expectTerminated(at, name);
    });
    await deletePods(at, ...NAMES);
    await machine.read(`ask-api DELETE ${CLASSES}/${important.metadata.name} && rm -r ${DIARY}`);
  },
};

async function createLingering(at: Stage, name: Name, priorityClassName?: string): Promise<void> {
  await createPod(at, name, {
    script: LINGERING(name),
    container: { volumeMounts: [{ name: "diary", mountPath: "/diary" }] },
    spec: {
      volumes: [{ name: "diary", hostPath: { path: DIARY } }],
      ...(priorityClassName !== undefined && { priorityClassName }),
    },
  });
}

/** Seconds since the kernel's start. */
async function readDiary(at: Stage, name: Name): Promise<{ told: number; ended: number }> {
  const [told, ended] = (await at.machine.read(`cat ${DIARY}/${name}.told ${DIARY}/${name}.ended`))
    .split("\n")
    .map(Number);
  if (told === undefined || ended === undefined) throw new Error(`${name} was not told to end, or did not end`);
  at.note(`${name}: told at ${told} s, ended at ${ended} s`);
  return { told, ended };
}

async function expectTerminated(at: Stage, name: Name): Promise<void> {
  const { status } = await readPod(at, name);
  at.note(`${name}: ${status?.phase}, ${status?.reason}, ${status?.message}`);
  expectSame(status?.reason ?? "", "Terminated", `the reason of ${name}`);
  expectSame(
    status?.message ?? "",
    "Pod was terminated in response to imminent node shutdown.",
    `the message of ${name}`,
  );
  const target = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  expectSame(target?.reason ?? "", "TerminationByKubelet", `the disruption of ${name}`);
}
