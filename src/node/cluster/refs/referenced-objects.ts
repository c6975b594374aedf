import type { ObjectMeta } from "../../../api/gen/types.ts";
import type { KubeResource } from "../../../api/kube-resource.ts";
import type { Clock } from "../../../base/clock.ts";
import { CodedError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Random } from "../../../base/random.ts";
import type { KubeClient, NamespacedName } from "../../../kube/port.ts";

/** The objects of one kind that registered pods name. Each strategy of reading them implements this. */
export interface ReferencedObjects<T> {
  /** Rejects with an ObjectRefError, an ApiError, a KubeUnreachableError or AbortedError. */
  get(name: NamespacedName, signal: AbortSignal): Promise<T>;
  /** Tells that the pod names the object. A second call for the same pod only updates how it does. */
  add(name: NamespacedName, reference: ObjectReference): void;
  /** Tells that the pod no longer names the object. */
  remove(name: NamespacedName, podUid: string): void;
  run(signal: AbortSignal): Promise<void>;
}

interface ObjectReference {
  readonly podUid: string;
  /** True when a volume names the object, so that its changes matter for as long as the pod runs. */
  readonly isMounted: boolean;
}

/** The kinds that pods read. */
export interface Referable {
  readonly immutable?: boolean;
  readonly metadata?: ObjectMeta;
}

export interface ReferencedObjectsDeps<T> {
  readonly client: Pick<KubeClient, "get" | "list" | "watch">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly resource: KubeResource<T>;
  /** Called when the object no longer is what some pod was told. */
  onChange(name: NamespacedName, podUids: readonly string[]): void;
}

/**
 * `not-registered`: no registered pod names the object. `not-synced`: the server has not given it in time; the message
 * says why.
 */
export class ObjectRefError extends CodedError<"not-registered" | "not-synced"> {
  override readonly name = "ObjectRefError";
}

/** Makes an error with upstream's words. */
export function notRegisteredError({ namespace, name }: NamespacedName): ObjectRefError {
  return new ObjectRefError(
    "not-registered",
    `object ${JSON.stringify(namespace)}/${JSON.stringify(name)} not registered`,
  );
}

/** Makes the key of an object. It is unique, because neither namespaces nor names hold a slash. */
export function keyOfObject({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}
