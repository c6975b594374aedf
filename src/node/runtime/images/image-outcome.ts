/** The image, or the reason and message of the container's waiting state. */
export type ImageOutcome = PresentImage | ImageFailure;

export interface PresentImage {
  /** The image's id in the runtime. */
  imageRef: string;
  /** The user that its processes run as where the pod names none. Neither is set where the image names none either. */
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
