import { inlineDriverVolumes } from "../../api/cloud-volumes.ts";
import { attachmentName, csiVolumeReference, isAttachmentName } from "../../api/csi-volumes.ts";
import { CONTROLLER_ATTACH_DETACH_ANNOTATION } from "../../api/node-names.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { claimKeysOf } from "../claims/pod-claims.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../control-loop/namespaced-key.ts";
import { createObjectIndex, type ObjectIndex } from "../control-loop/object-index.ts";
import { createPodsByNode, nodeNamesOf, podNameOf } from "../control-loop/pods-by-node.ts";
import { createEventRecorder, type EventRecorder } from "../control-loop/record-events.ts";
import { soonest } from "../control-loop/soonest.ts";
import { createWorkQueue, type WorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { createDiskAttacher, type DiskAttacher } from "./attach-disks.ts";
import { reportAttachment, reportMultiAttach } from "./attach-events.ts";
import {
  ATTACHMENTS,
  attachedVolumeOf,
  attachmentNodeOf,
  STORED_CSI_DRIVERS,
  type StoredAttachment,
} from "./attachment.ts";
import { CLAIMS, readVolume, VOLUMES } from "./binder-deps.ts";
import { isHeld, type NodeAttachment, planAttachments } from "./plan-attachments.ts";
import { findWanted, type WantedAttachment } from "./wanted-attachments.ts";
import { hasInlineDisk } from "./wanted-disks.ts";

const COMPONENT = "attachdetach-controller";

interface Attacher extends ControllerDeps {
  events: EventRecorder;
  podsOnNode: ObjectIndex;
  attachmentsOnNode: ObjectIndex;
  /** By attachment: since when, by our own clock, nobody wants it. */
  unwantedSince: Map<string, number>;
  /** By node: volumes of which its pods know that another node has them. */
  heldElsewhere: Map<string, ReadonlySet<string>>;
  disks: DiskAttacher;
}

/**
 * Has CSI volumes attached to the nodes where pods use them and detached where none does any more, by the
 * VolumeAttachments that drivers' attachers act on (`pkg/controller/volume/attachdetach`). What is attached is told in
 * the node's status, and not told any more before it is taken away: the node mounts nothing that it does not find there.
 */
export function createAttachDetach(deps: ControllerDeps): Controller {
  const { feed } = deps;
  const events = createEventRecorder(deps, COMPONENT);
  const podsOfClaim = createObjectIndex(claimKeysOf);
  const podsOnNode = createPodsByNode();
  const podsOn = (nodeName: string) => readPods(deps, podsOnNode.keysOf(nodeName));
  const attacher: Attacher = {
    ...deps,
    events,
    podsOnNode,
    disks: createDiskAttacher({ ...deps, events, podsOn }),
    attachmentsOnNode: createObjectIndex(attachmentNodeOf),
    unwantedSince: new Map(),
    heldElsewhere: new Map(),
  };
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "attach-detach",
    reconcile: (nodeName) => reconcile(attacher, nodeName),
  });
  const addNodesOfClaim = (key: string) => {
    for (const pod of readPods(attacher, podsOfClaim.keysOf(key))) addNodeOfPod(pod);
  };
  const addNodeOfPod = (pod: KubeObject) => {
    for (const nodeName of nodeNamesOf(pod)) queue.add(nodeName);
  };
  const addAllNodes = () => {
    for (const { metadata } of deps.reader.list("nodes")) queue.add(metadata.name ?? "");
  };
  const follow = () => [
    feed.follow("nodes", (event) => {
      queue.add(event.object.metadata.name ?? "");
      // Whoever waited for the disk may have it now.
      if (attacher.disks.isRelease(event)) addAllNodes();
    }),
    feed.follow("pods", (event) => {
      podsOfClaim.apply(event);
      attacher.podsOnNode.apply(event);
      if (hasVolumes(event.object)) addNodeOfPod(event.object);
    }),
    feed.follow(CLAIMS, ({ object }) => addNodesOfClaim(namespacedKeyOf(object.metadata))),
    feed.follow(VOLUMES, ({ object }) => {
      const { claimRef } = typed("PersistentVolume", object).spec ?? {};
      if (claimRef !== undefined) addNodesOfClaim(namespacedKeyOf(claimRef));
    }),
    feed.follow(STORED_CSI_DRIVERS, () => addAllNodes()),
    feed.follow(ATTACHMENTS, (event) => {
      attacher.attachmentsOnNode.apply(event);
      for (const nodeName of followAttachment(attacher, event)) queue.add(nodeName);
    }),
  ];
  return {
    run: (signal) => runFollowingWithEvents(queue, follow, events, signal),
  };
}

function hasVolumes(pod: KubeObject): boolean {
  return claimKeysOf(pod).length > 0 || hasInlineDisk(pod) || inlineDriverVolumes(typed("Pod", pod)).length > 0;
}

/** Returns the nodes that it concerns: when one goes, that may be whoever waited for the volume. */
function followAttachment(attacher: Attacher, event: ResourceEvent): readonly string[] {
  const { reader, unwantedSince, events } = attacher;
  const attachment = typed("VolumeAttachment", event.object);
  const { nodeName } = attachment.spec;
  if (event.type !== "DELETED") {
    reportAttachment(events, event, usersOn(attacher, nodeName, attachedVolumeOf(attachment)));
    return [nodeName];
  }
  unwantedSince.delete(attachment.metadata.name ?? "");
  return reader
    .list("nodes")
    .map(({ metadata }) => metadata.name ?? "")
    .concat(nodeName);
}

async function reconcile(attacher: Attacher, nodeName: string): Promise<number | undefined> {
  const { writer } = attacher;
  const node = readNode(attacher, nodeName);
  if (node !== undefined && node.metadata.annotations?.[CONTROLLER_ATTACH_DETACH_ANNOTATION] === undefined)
    return undefined;
  const wanted = wantedOn(attacher, nodeName);
  const attachments = attachmentsOn(attacher, nodeName);
  noteUnwanted(attacher, nodeName, { wanted, attachments });
  const disks = node && attacher.disks.plan(node, readPods(attacher, attacher.podsOnNode.keysOf(nodeName)));
  const plan = planAttachments({
    nodeName,
    node,
    wanted,
    attachments,
    disks: disks?.listed ?? [],
    unwantedMs: (name) => unwantedMs(attacher, name),
  });
  if (node !== undefined && plan.volumesAttached !== undefined) {
    // A node that has begun to use one of them meanwhile has another version: then all is decided anew.
    const status = { ...node.status, volumesAttached: [...plan.volumesAttached] };
    if (!(await unlessOvertaken(writer.update("nodes", untyped({ ...node, status }), "status")))) return undefined;
    disks?.tellAttached();
  }
  for (const attachment of plan.detach) await detach(attacher, nodeName, attachment);
  await attachAll(attacher, nodeName, plan.attach);
  return soonest([plan.lookAgainMs, disks?.lookAgainMs]);
}

const readNode = ({ reader }: Attacher, name: string) => {
  const found = reader.get({ resource: "nodes", namespace: "", name });
  return found && typed("Node", found);
};

const unwantedMs = ({ unwantedSince, clock }: Attacher, name: string) => {
  const now = clock.monotonic();
  return now - (unwantedSince.get(name) ?? now);
};

function noteUnwanted(
  { unwantedSince, clock }: Attacher,
  nodeName: string,
  { wanted, attachments }: { wanted: readonly WantedAttachment[]; attachments: readonly NodeAttachment[] },
): void {
  const names = new Set(wanted.map((volume) => attachmentName(volume, nodeName)));
  for (const { attachment } of attachments) {
    const { name = "" } = attachment.metadata;
    if (names.has(name)) unwantedSince.delete(name);
    else unwantedSince.set(name, unwantedSince.get(name) ?? clock.monotonic());
  }
}

const wantedOn = (attacher: Attacher, nodeName: string) => {
  return findWanted(attacher.reader, readPods(attacher, attacher.podsOnNode.keysOf(nodeName)));
};

const usersOn = (attacher: Attacher, nodeName: string, volumeName: string): readonly KubeObject[] => {
  return wantedOn(attacher, nodeName).find((volume) => volume.volumeName === volumeName)?.pods ?? [];
};

function readPods({ reader }: Pick<Attacher, "reader">, keys: readonly string[]): readonly KubeObject[] {
  return keys.flatMap((key) => reader.get(podNameOf(key)) ?? []);
}

/** Those that are ours to look after, by their names: others are somebody's who attaches by hand. */
function attachmentsOn({ reader, attachmentsOnNode }: Attacher, nodeName: string): readonly NodeAttachment[] {
  return attachmentsOnNode.keysOf(nodeName).flatMap((key): NodeAttachment[] => {
    const { name } = splitNamespacedKey(key);
    const found = reader.get({ resource: ATTACHMENTS, namespace: "", name });
    if (found === undefined) return [];
    const attachment = typed("VolumeAttachment", found);
    const { inlineVolumeSpec: spec } = attachment.spec.source;
    const persistent = spec === undefined ? readVolume({ reader }, attachedVolumeOf(attachment)) : { spec };
    const volume = persistent && csiVolumeReference(persistent);
    const isUnknown = volume === undefined && spec === undefined && isAttachmentName(name);
    const isOurs = isUnknown || (volume !== undefined && attachmentName(volume, nodeName) === name);
    return isOurs ? [{ attachment, volume }] : [];
  });
}

/** Looks at the node once more: it may have begun to use the volume while its status was written. */
async function detach(attacher: Attacher, nodeName: string, attachment: StoredAttachment): Promise<void> {
  const { writer, log } = attacher;
  const { name = "", uid } = attachment.metadata;
  const node = readNode(attacher, nodeName);
  if (isHeld({ node, nodeName, unwantedMs: (held) => unwantedMs(attacher, held) }, attachment)) return;
  log.info("a volume is detached", { node: nodeName, volume: attachedVolumeOf(attachment), attachment: name });
  const preconditions = { ...(uid !== undefined && { uid }) };
  await unlessOvertaken(writer.remove({ resource: ATTACHMENTS, namespace: "", name }, { preconditions }));
}

/** All but those that another node has and would have to share; of these their pods hear, once. */
async function attachAll(attacher: Attacher, nodeName: string, volumes: readonly WantedAttachment[]): Promise<void> {
  const told = attacher.heldElsewhere.get(nodeName);
  const held = new Set<string>();
  for (const volume of volumes) {
    const { volumeName, isExclusive, pods: waiting } = volume;
    // Nothing is awaited between this look and the write.
    const others = isExclusive ? nodesWith(attacher, volumeName).filter((name) => name !== nodeName) : [];
    if (others.length === 0) {
      await attach(attacher, nodeName, volume);
      continue;
    }
    held.add(volumeName);
    const users = others.flatMap((other) => usersOn(attacher, other, volumeName));
    if (!told?.has(volumeName)) reportMultiAttach(attacher.events, volumeName, { waiting, users });
  }
  if (held.size > 0) attacher.heldElsewhere.set(nodeName, held);
  else attacher.heldElsewhere.delete(nodeName);
}

async function attach({ writer, log }: Attacher, nodeName: string, volume: WantedAttachment): Promise<void> {
  const { driver, volumeName, inlineSpec } = volume;
  const source = inlineSpec === undefined ? { persistentVolumeName: volumeName } : { inlineVolumeSpec: inlineSpec };
  const attachment = {
    apiVersion: "storage.k8s.io/v1",
    kind: "VolumeAttachment",
    metadata: { name: attachmentName(volume, nodeName) },
    spec: { attacher: driver, nodeName, source },
  };
  const isNew = await unlessOvertaken(writer.create(ATTACHMENTS, attachment));
  if (isNew) log.info("a volume is attached", { node: nodeName, volume: volumeName });
}

/** As it is written: of two nodes that want a volume at once the second has to see the first's attachment. */
function nodesWith({ reader }: Attacher, volumeName: string): string[] {
  return reader.list(ATTACHMENTS).flatMap((object) => {
    const attachment = typed("VolumeAttachment", object);
    return attachedVolumeOf(attachment) === volumeName ? [attachment.spec.nodeName] : [];
  });
}
