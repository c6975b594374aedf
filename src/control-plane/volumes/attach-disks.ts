import { type KubeObject, typed } from "../../api/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { EventRecorder } from "../control-loop/record-events.ts";
import type { ResourceEvent, ResourceReader } from "../ports/resources.ts";
import { reportAttached, reportMultiAttach } from "./attach-events.ts";
import { listedDisksOf, planDisks } from "./plan-disks.ts";
import { findWantedDisks, type WantedDisk } from "./wanted-disks.ts";

/** The disks of one node, as its status shall list them. */
interface NodeDisks {
  readonly listed: readonly string[];
  readonly lookAgainMs: number | undefined;
  /** The status lists them: their pods hear of it. */
  tellAttached(): void;
}

/** The account of the disks that nodes reach by themselves. */
export interface DiskAttacher {
  /** `pods`: those that are bound to the node. Pods that wait for another node hear of it, once. */
  plan(node: KubeObject, pods: readonly KubeObject[]): NodeDisks;
  /** Whether a change of a node may let others have a disk. */
  isRelease(event: ResourceEvent): boolean;
}

interface DiskAttacherDeps {
  readonly reader: ResourceReader;
  readonly clock: Pick<Clock, "monotonic">;
  readonly events: EventRecorder;
  podsOn(nodeName: string): readonly KubeObject[];
}

export function createDiskAttacher({ reader, clock, events, podsOn }: DiskAttacherDeps): DiskAttacher {
  /** By node and disk: since when, by our own clock, nobody wants it there. */
  const unwantedSince = new Map<string, Map<string, number>>();
  /** By node: the disks of which its pods know that another node has them. */
  const told = new Map<string, ReadonlySet<string>>();

  const noteUnwanted = (nodeName: string, listed: readonly string[], wanted: readonly WantedDisk[]) => {
    const before = unwantedSince.get(nodeName);
    const names = listed.filter((name) => !wanted.some((disk) => disk.name === name));
    unwantedSince.delete(nodeName);
    if (names.length === 0) return;
    const since = names.map((name) => [name, before?.get(name) ?? clock.monotonic()] as const);
    unwantedSince.set(nodeName, new Map(since));
  };

  const othersWith = (name: string, nodeName: string) => {
    const nodes = reader.list("nodes").filter(({ metadata }) => metadata.name !== nodeName);
    return nodes.filter((node) => listedDisksOf(typed("Node", node)).includes(name));
  };

  const tellHeld = (nodeName: string, held: readonly WantedDisk[]) => {
    for (const { name, volumeName, pods: waiting } of held) {
      if (told.get(nodeName)?.has(name)) continue;
      const users = othersWith(name, nodeName).flatMap(({ metadata }) => {
        const wanted = findWantedDisks(reader, podsOn(metadata.name ?? ""));
        return wanted.find((disk) => disk.name === name)?.pods ?? [];
      });
      reportMultiAttach(events, volumeName, { waiting, users });
    }
    if (held.length > 0) told.set(nodeName, new Set(held.map(({ name }) => name)));
    else told.delete(nodeName);
  };

  return {
    plan(object, pods) {
      const node = typed("Node", object);
      const { name: nodeName = "" } = object.metadata;
      const wanted = findWantedDisks(reader, pods);
      noteUnwanted(nodeName, listedDisksOf(node), wanted);
      const now = clock.monotonic();
      const { listed, attached, heldElsewhere, lookAgainMs } = planDisks({
        node,
        wanted,
        unwantedMs: (name) => now - (unwantedSince.get(nodeName)?.get(name) ?? now),
        isElsewhere: (name) => othersWith(name, nodeName).length > 0,
      });
      tellHeld(nodeName, heldElsewhere);
      return {
        listed,
        lookAgainMs,
        tellAttached() {
          for (const disk of attached) reportAttached(events, disk.volumeName, disk.pods);
        },
      };
    },
    isRelease({ type, object, previous }) {
      const before = previous === undefined ? [] : listedDisksOf(typed("Node", previous));
      if (type === "DELETED") return listedDisksOf(typed("Node", object)).length > 0;
      const now = listedDisksOf(typed("Node", object));
      return before.some((name) => !now.includes(name));
    },
  };
}
