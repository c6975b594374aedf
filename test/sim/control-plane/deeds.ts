import { isRecord, type KubeObject, typed } from "../../../src/api/object.ts";
import { isPodReady, isTerminalPhase, podUid } from "../../../src/api/pods.ts";
import { messageOf } from "../../../src/base/errors.ts";
import type { Dice } from "../dice.ts";
import { NAMESPACE } from "./ledger.ts";
import { NODE_NAMES, type WorkloadKind } from "./workloads.ts";
import type { ControlPlaneWorld } from "./world.ts";

/** Somebody who does something: with which dice, and to what. */
interface Actor {
  readonly world: ControlPlaneWorld;
  readonly dice: Dice;
  readonly kinds: readonly [WorkloadKind, ...WorkloadKind[]];
}

export const DEEDS = [
  "create",
  "create",
  "create",
  "create",
  "change",
  "change",
  "change",
  "scale",
  "scale",
  "delete",
  "delete a pod",
  "delete a pod by force",
  "evict",
  "evict",
  "evict",
  "flap",
  "node evicts",
  "cordon",
  "pause",
] as const;
export type Deed = (typeof DEEDS)[number];

/** What users and nodes do, whether or not the control plane is there to hear of it. */
export async function doDeed(actor: Actor, deed: Deed): Promise<void> {
  const { world, dice, kinds } = actor;
  const { ledger, disturbances, kubelets, trace } = world;
  switch (deed) {
    case "create": {
      const kind = dice.pick(kinds);
      return await create(actor, kind, dice.pick(kind.names));
    }
    case "change":
      return await changeSome(actor, (kind, object) => withNewSpec(actor, kind, object));
    case "scale":
      return await changeSome(actor, (_kind, object) => {
        const spec = specOf(object);
        return "replicas" in spec ? { ...object, spec: { ...spec, replicas: dice.whole(0, 6) } } : undefined;
      });
    case "pause":
      return await changeSome(actor, (kind, object) => {
        if (kind.kind === "Deployment") return withField(object, "paused", specOf(object)["paused"] !== true);
        const isSuspendable = kind.kind === "Job" || kind.kind === "CronJob";
        return isSuspendable ? withField(object, "suspend", specOf(object)["suspend"] !== true) : undefined;
      });
    case "delete": {
      const found = pickObject(actor);
      if (found === undefined) return;
      const propagationPolicy = dice.pick(["Background", "Foreground"]);
      const path = `${found.kind.path}/${found.object.metadata.name}`;
      world.given.add(found.object.metadata.uid ?? "");
      await attempt(world, `deletes ${nameOf(found.object)}, ${propagationPolicy}`, async () => {
        await world.server.ask({ method: "DELETE", path, body: { propagationPolicy } });
      });
      return;
    }
    case "cordon": {
      const name = dice.pick(NODE_NAMES);
      const isCordoned = typed("Node", ledger.get("nodes", name, "") ?? { ...NOTHING }).spec?.unschedulable === true;
      await patch(world, `/api/v1/nodes/${name}`, { spec: { unschedulable: !isCordoned } });
      return;
    }
    default: {
      const pods = ledger.list("pods").map((pod) => typed("Pod", pod));
      const pod = dice.pickAny(pods.filter(({ status }) => !isTerminalPhase(status?.phase)));
      if (pod === undefined) return;
      const app = pod.metadata.labels?.["app"] ?? "";
      if (deed === "evict") return await evict(world, pod);
      disturbances.app(app);
      if (deed === "flap" || deed === "node evicts") {
        const isRunning = isPodReady(pod) && pod.metadata.deletionTimestamp === undefined;
        if (!isRunning) return;
        trace.note(`node: ${deed} ${pod.metadata.name}`);
        if (deed === "flap") kubelets.flap(pod);
        else kubelets.evict(pod);
        return;
      }
      disturbances.endedPods.add(podUid(pod));
      const body = deed === "delete a pod" ? {} : { gracePeriodSeconds: 0 };
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod.metadata.name}`;
      await attempt(world, `deletes pod ${pod.metadata.name}, ${JSON.stringify(body)}`, async () => {
        await world.server.ask({ method: "DELETE", path, body });
      });
    }
  }
}

const NOTHING: KubeObject = { apiVersion: "v1", kind: "Node", metadata: {} };
const nameOf = ({ kind, metadata }: KubeObject) => `${kind} ${metadata.name}`;

export async function attempt({ trace }: ControlPlaneWorld, what: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    trace.note(`user: ${what}`);
    return true;
  } catch (error) {
    trace.note(`user: ${what}, in vain: ${messageOf(error)}`);
    return false;
  }
}

async function create({ world, dice }: Actor, kind: WorkloadKind, name: string): Promise<void> {
  const body = kind.make(dice, name);
  await attempt(world, `creates ${nameOf(body)} ${JSON.stringify(body["spec"])}`, async () => {
    await world.server.ask({ method: "POST", path: kind.path, body });
  });
}

function pickObject({ world, dice, kinds }: Actor): { kind: WorkloadKind; object: KubeObject } | undefined {
  const { ledger } = world;
  const all = [...new Set(kinds)].flatMap((kind) => {
    const objects = kind.names.flatMap((name) => ledger.get(kind.resource, name) ?? []);
    return objects.map((object) => ({ kind, object }));
  });
  return dice.pickAny(all);
}

type Change = (kind: WorkloadKind, object: KubeObject) => KubeObject | undefined;

async function changeSome(actor: Actor, change: Change): Promise<void> {
  const { world } = actor;
  const found = pickObject(actor);
  const changed = found && change(found.kind, found.object);
  if (found === undefined || changed === undefined) return;
  const path = `${found.kind.path}/${found.object.metadata.name}`;
  await attempt(world, `changes ${nameOf(changed)} ${JSON.stringify(changed["spec"])}`, async () => {
    // Whoever changed it meanwhile, the user means what they say.
    const { resourceVersion: _version, ...metadata } = changed.metadata;
    await world.server.ask({ method: "PUT", path, body: { ...changed, metadata } });
  });
}

/** Another template or other limits, as far as they may be changed. */
function withNewSpec({ world, dice }: Actor, kind: WorkloadKind, object: KubeObject): KubeObject {
  const { name = "" } = object.metadata;
  const made = kind.make(dice, name);
  const spec = specOf(made);
  const before = specOf(object);
  switch (kind.kind) {
    case "Job":
      return withField(object, "parallelism", spec["parallelism"]);
    case "Service":
      return withField(object, "selector", spec["selector"]);
    case "StatefulSet":
      return { ...object, spec: { ...before, ...mutableOfSet(spec) } };
    case "Deployment":
      // A pod's end is judged by the limits that hold when it is decided.
      if (dice.chance(0.3)) return withField(object, "strategy", spec["strategy"]);
      return withField(object, "template", spec["template"]);
    case "DaemonSet":
      world.disturbances.app(name);
      return { ...object, spec };
    case "Endpoints":
      return { ...made, metadata: object.metadata };
    default:
      return { ...object, spec };
  }
}

/** Where it says nothing of claims, they stay as they are. */
function mutableOfSet({
  template,
  updateStrategy,
  persistentVolumeClaimRetentionPolicy: claims,
}: Record<string, unknown>) {
  return { template, updateStrategy, ...(claims !== undefined && { persistentVolumeClaimRetentionPolicy: claims }) };
}

const specOf = (object: KubeObject) => (isRecord(object["spec"]) ? object["spec"] : {});

function withField(object: KubeObject, field: string, value: unknown): KubeObject {
  return { ...object, spec: { ...specOf(object), [field]: value } };
}

export async function patch(world: ControlPlaneWorld, path: string, body: object): Promise<boolean> {
  return await attempt(world, `patches ${path} ${JSON.stringify(body)}`, async () => {
    await world.server.ask({ method: "PATCH", path, body, contentType: "application/merge-patch+json" });
  });
}

async function evict(world: ControlPlaneWorld, pod: KubeObject): Promise<void> {
  const { name = "", uid = "", labels = {} } = pod.metadata;
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`;
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: NAMESPACE } };
  world.evictions.add(uid);
  const isEvicted = await attempt(world, `evicts ${name}`, async () => {
    await world.server.ask({ method: "POST", path, body });
  });
  if (isEvicted) world.disturbances.app(labels["app"] ?? "");
}
