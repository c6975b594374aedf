import type { Container, Pod, Probe } from "../../../src/api/gen/types.ts";
import { isHostNetworkPod, isRestartableInitContainer } from "../../../src/api/pods.ts";
import type { FakeContainer } from "../../../src/cri/fake/fake-state.ts";
import type { FakeHttpAnswer, FakeListener } from "../../../src/host/fake/fake-probes.ts";
import type { HttpProbe, ProbeTarget } from "../../../src/host/probe-port.ts";
import type { Dice } from "../dice.ts";
import { behaviourOf } from "../pod-script.ts";
import { short } from "../trace.ts";
import type { TroubleDeps } from "../trouble-deps.ts";

/** Containers that answer probes, now and then badly or not at all, and what the node agent was answered. */
export interface ProbedPods {
  readonly dice: Dice;
  /** Some containers that run for ever get probes. */
  dress(pod: Pod): Pod;
  /** A container that runs answers one kind of probe badly, for a while. */
  trouble(): void;
  /** What this very container has answered, to whichever node agent. */
  evidence(containerId: string, kind: ProbedKind): Evidence;
  /** Whether a container of that name has ever told a startup probe there that it has started. */
  hasStartedIn(sandboxId: string, name: string): boolean;
  /** Pods of which a container was rightly stopped. */
  readonly disturbed: Set<string>;
  /** The chaos is over. */
  end(): void;
}

type ProbedKind = "startup" | "readiness" | "liveness";

interface Evidence {
  hasSucceeded: boolean;
  /** The longest row of them. */
  failuresInARow: number;
}

const PORTS: Readonly<Record<ProbedKind, number>> = { startup: 8001, readiness: 8002, liveness: 8003 };
const LONGEST_TROUBLE_MS = 60_000;

export function createProbedPods({ host, cri, faults, trace, dice }: Omit<TroubleDeps, "pods">): ProbedPods {
  const troubles = new Map<string, FakeHttpAnswer>();
  const started = new Set<string>();
  const found = new Map<string, Evidence & { row: number }>();
  const keyOf = (containerId: string, kind: ProbedKind) => `${containerId}/${kind}`;
  const evidence = (containerId: string, kind: ProbedKind) => {
    const key = keyOf(containerId, kind);
    const known = found.get(key) ?? { hasSucceeded: false, failuresInARow: 0, row: 0 };
    found.set(key, known);
    return known;
  };

  const answer = (sandboxId: string, kind: ProbedKind, { path }: HttpProbe): FakeHttpAnswer => {
    const container = cri
      .runningContainers()
      .find((each) => each.sandboxId === sandboxId && nameOf(each) === path.slice(1));
    if (container === undefined) return "closed";
    const given = troubles.get(keyOf(container.id, kind)) ?? { status: 200 };
    const known = evidence(container.id, kind);
    // Nothing follows from a body that does not end.
    if (given === "endless") return given;
    if (typeof given !== "string" && given.status === 200) {
      known.hasSucceeded = true;
      if (kind === "startup") started.add(`${sandboxId}${path}`);
      known.row = 0;
    } else {
      known.row++;
      known.failuresInARow = Math.max(known.failuresInARow, known.row);
    }
    return given;
  };

  host.probes.listenElsewhere(({ host: address, port }: ProbeTarget): FakeListener | undefined => {
    const sandbox = cri.sandboxes().find(({ state, ip }) => state === "ready" && ip === address);
    const kind = KINDS.find((each) => PORTS[each] === port);
    if (sandbox === undefined || kind === undefined) return undefined;
    return { http: (probe) => answer(sandbox.id, kind, probe) };
  });

  const randomProbe = (container: Container, kind: ProbedKind): Probe => ({
    httpGet: { path: `/${container.name}`, port: PORTS[kind] },
    periodSeconds: dice.pick([1, 3, 10]),
    timeoutSeconds: dice.pick([1, 2]),
    failureThreshold: kind === "startup" ? dice.whole(3, 10) : dice.pick([1, 3]),
    ...(kind === "readiness" && { successThreshold: dice.pick([1, 2]) }),
    ...(dice.chance(0.3) && { initialDelaySeconds: dice.whole(1, 5) }),
  });
  const dressContainer = (container: Container): Container => {
    const kinds = KINDS.filter(() => dice.chance(0.5));
    if (behaviourOf(container).kind !== "runs") return container;
    return { ...container, ...Object.fromEntries(kinds.map((kind) => [`${kind}Probe`, randomProbe(container, kind)])) };
  };

  return {
    dice,
    dress(pod) {
      // Pods of the node's network share an address, which does not tell which of them is asked.
      if (isHostNetworkPod(pod) || !dice.chance(0.7)) return pod;
      const { initContainers = [], containers = [] } = pod.spec ?? {};
      const inits = initContainers.map((each) => (isRestartableInitContainer(each) ? dressContainer(each) : each));
      return {
        ...pod,
        spec: {
          ...pod.spec,
          ...(inits.length > 0 && { initContainers: inits }),
          containers: containers.map(dressContainer),
        },
      };
    },
    trouble() {
      const container = dice.pickAny(cri.runningContainers());
      const kind = dice.pick(["startup", "readiness", "liveness"] as const);
      const given = dice.pick<FakeHttpAnswer>([{ status: 503 }, "silent", "endless", "closed"]);
      const lastsMs = dice.between(500, LONGEST_TROUBLE_MS);
      if (container === undefined) return;
      trace.note(`trouble: ${kind} of ${nameOf(container)} ${short(container.id)} answers ${JSON.stringify(given)}`);
      faults.begin("probe");
      troubles.set(keyOf(container.id, kind), given);
      host.clock.setTimer(lastsMs, () => {
        troubles.delete(keyOf(container.id, kind));
        faults.mend("probe");
      });
    },
    evidence,
    hasStartedIn: (sandboxId, name) => started.has(`${sandboxId}/${name}`),
    disturbed: new Set(),
    end: () => {
      troubles.clear();
      faults.mend("probe");
    },
  };
}

const KINDS: readonly ProbedKind[] = ["startup", "readiness", "liveness"];

function nameOf({ config }: Readonly<FakeContainer>): string {
  return config.metadata?.name ?? "";
}
