import type { CustomResourceDefinition } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";

/**
 * Resolves with the objects in another version of their kind, in their order. Rejects with an ApiError (InternalError)
 * that says why in upstream's words.
 */
export type ConvertObjects = (objects: readonly KubeObject[], apiVersion: string) => Promise<readonly KubeObject[]>;

/** Makes what asks a definition's conversion webhook. */
export type ConnectConversion = (definition: CustomResourceDefinition) => ConvertObjects;
