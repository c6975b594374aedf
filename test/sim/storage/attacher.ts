import { isApiError } from "../../../src/api/api-error.ts";
import type { VolumeAttachment } from "../../../src/api/gen/types.ts";
import { VOLUME_ATTACHMENTS } from "../../../src/api/kube-resource.ts";
import type { ResourceFeed } from "../../../src/control-plane/ports/resources.ts";
import type { FakeClock } from "../../../src/host/fake/fake-clock.ts";
import type { KubeClient } from "../../../src/kube/port.ts";
import type { Dice } from "../dice.ts";
import type { Trace } from "../trace.ts";

/** The part of a storage driver that runs elsewhere: it does what VolumeAttachments say, when it gets to it. */
export interface Attacher {
  /** From now on it is quick. */
  hurry(): void;
  /** As the API has them. */
  attachments(): readonly VolumeAttachment[];
}

interface AttacherDeps {
  admin: KubeClient;
  feed: ResourceFeed;
  clock: FakeClock;
  dice: Dice;
  trace: Trace;
  /** The volume is about to be taken from the node. */
  onDetach(volumeName: string): void;
  fail(invariant: string, message: string): void;
}

const FINALIZER = "external-attacher/csi-example-com";
const AGAIN_MS = 1_000;

export function createAttacher(deps: AttacherDeps): Attacher {
  const { admin, feed, clock, dice, trace } = deps;
  const known = new Map<string, VolumeAttachment>();
  const scheduled = new Set<string>();
  let isQuick = false;

  const patch = async (name: string, body: object, subresource?: "status") => {
    await admin.patch(VOLUME_ATTACHMENTS, { namespace: "", name }, { type: "merge", body }, { subresource });
  };

  const work = async (name: string): Promise<void> => {
    const attachment = known.get(name);
    if (attachment === undefined) return;
    const { metadata, spec, status } = attachment;
    const volumeName = spec.source.persistentVolumeName ?? "";
    if (metadata?.deletionTimestamp !== undefined) {
      deps.onDetach(volumeName);
      trace.note(`attacher: takes ${volumeName} from the node`);
      await patch(name, { metadata: { finalizers: null } });
      return;
    }
    if (status?.attached === true) return;
    if (metadata?.finalizers === undefined) await patch(name, { metadata: { finalizers: [FINALIZER] } });
    if (!isQuick && dice.chance(0.2)) {
      trace.note(`attacher: fails to attach ${volumeName}`);
      const attachError = { message: "injected by the simulator", time: new Date(clock.now()).toISOString() };
      await patch(name, { status: { attached: false, attachError } }, "status");
      schedule(name);
      return;
    }
    trace.note(`attacher: has attached ${volumeName}`);
    const attachmentMetadata = { device: `/dev/${volumeName}` };
    await patch(name, { status: { attached: true, attachError: null, attachmentMetadata } }, "status");
  };

  const schedule = (name: string, delayMs = isQuick ? 50 : dice.pick([20, 300, 2_000, 15_000])) => {
    if (scheduled.has(name)) return;
    scheduled.add(name);
    clock.setTimer(delayMs, () => {
      scheduled.delete(name);
      work(name).catch((error: unknown) => {
        if (isApiError(error, "Conflict")) schedule(name, AGAIN_MS);
        else if (!isApiError(error, "NotFound")) deps.fail("the API server does what an attacher asks", String(error));
      });
    });
  };

  feed.follow("volumeattachments.storage.k8s.io", ({ type, object }) => {
    const attachment = VOLUME_ATTACHMENTS.read(object);
    const name = attachment.metadata?.name ?? "";
    if (type === "DELETED") {
      known.delete(name);
      return;
    }
    known.set(name, attachment);
    const { metadata, status } = attachment;
    if (metadata?.deletionTimestamp !== undefined || status?.attached !== true) schedule(name);
  });

  return {
    hurry() {
      isQuick = true;
    },
    attachments: () => [...known.values()],
  };
}
