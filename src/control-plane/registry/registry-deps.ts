import type { KubeObject } from "../../api/object.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { KindTable } from "./kind-table.ts";

/** What all verbs share. */
export interface RegistryDeps {
  readonly store: ObjectStore;
  readonly kinds: KindTable;
  /** In the order in which they run. */
  readonly admission: readonly AdmissionPlugin[];
  /** Milliseconds since the epoch. */
  now(): number;
  newUid(): string;
  /** Five characters for generated names. */
  randomSuffix(): string;
  /**
   * What the cluster hands out to an object that is about to be stored (a service's addresses and ports), decided on all
   * that is stored: the object with them. `current` is undefined on creation. Throws an ApiError when it cannot.
   */
  allocate(object: KubeObject, current: KubeObject | undefined): KubeObject;
}
