import type { KubeObject } from "../../api/object.ts";
import type { User } from "./user.ts";

/** A deletion that is stored. */
export interface Deletion {
  /** `pods`, `deployments.apps`. */
  readonly resource: string;
  /** The object as it was before. */
  readonly object: KubeObject;
  readonly user: User;
  /** The program, as it names itself; undefined for the control plane's own parts. */
  readonly userAgent: string | undefined;
  /** Why, or by which way, in words. Default: the request says no more. */
  readonly cause: string | undefined;
  /** The seconds that the object has from the beginning of its deletion on. */
  readonly gracePeriodSeconds: number;
  /** False while a grace period or a finalizer keeps the object. */
  readonly isGone: boolean;
}
