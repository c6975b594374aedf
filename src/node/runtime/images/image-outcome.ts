/** The image, or the reason and message of the container's waiting state. */
export type ImageOutcome = PresentImage | ImageFailure;

export interface PresentImage {
  /** The image's id in the runtime. */
  imageRef: string;
  /** Whom its processes run as, if the pod does not say; neither is set for an image that does not say either. */
  user: { uid: bigint | undefined; username: string };
}

/** Why a container has no image; users know these reasons. */
export type ImageFailureReason =
  | PullFailureReason
  | "ImagePullBackOff"
  | "ErrImageNeverPull"
  | "ImageInspectError"
  | "InvalidImageName";

export interface ImageFailure {
  reason: ImageFailureReason;
  message: string;
  /** When it makes sense to ask again, milliseconds since the epoch. */
  retryAt?: number;
}

/** Runtimes that can tell say which of the last two it was, as cri-api's errors.go asks them to. */
export type PullFailureReason = "ErrImagePull" | "RegistryUnavailable" | "SignatureValidationFailed";
