import type { CrossVersionObjectReference } from "../../../api/gen/types.ts";

/** What the subresource `scale` of an object says. */
export interface TargetScale {
  /** How many replicas there are to be. */
  readonly replicas: number;
  /** How many there are. */
  readonly statusReplicas: number;
  /** The labels of its pods; "" where it does not tell. */
  readonly selector: string;
}

export type FoundScale =
  | { readonly kind: "scale"; readonly scale: TargetScale }
  /** There is no such object, or it has no scale. */
  | { readonly kind: "failed"; readonly message: string };

/** The objects of any kind that have the subresource `scale`. */
export interface ScaleTargets {
  /** Rejects with an ApiError when the object cannot be converted. */
  find(target: CrossVersionObjectReference, namespace: string): Promise<FoundScale>;
  /** Rejects with an ApiError: NotFound, Invalid, Forbidden. */
  setReplicas(target: CrossVersionObjectReference, namespace: string, replicas: number): Promise<void>;
}
