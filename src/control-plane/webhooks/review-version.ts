/** The versions of AdmissionReview that are spoken. */
export type ReviewVersion = "v1" | "v1beta1";

/** The first of the versions that is spoken; undefined when none of them is. */
export function spokenReviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version) => version === "v1" || version === "v1beta1");
}
