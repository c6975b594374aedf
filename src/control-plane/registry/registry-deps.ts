import type { Deletion } from "../ports/deletion.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { AdmissionPlugin } from "../ports/request.ts";
import type { KindTable } from "./kind-table.ts";
import type { Tape } from "./replayed-chance.ts";

/** The dependencies that all verbs share. */
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
  /** Told of each deletion when it is durable. It must not throw. Default: nobody wants to know. */
  noteDeletion?(deletion: Deletion): void;
  /** Makes time and chance repeat themselves for further attempts at one decision. */
  record(): Tape;
}
