import { expect, it } from "vitest";
import { readReviewAnswer, reviewOf } from "./admission-review.ts";
import { spokenReviewVersion } from "./review-version.ts";

it.each([
  [["v1", "v1beta1"], "v1"],
  [["v9", "v1beta1", "v1"], "v1beta1"],
  [["v9"], undefined],
])("of the versions %j, %s is spoken", (versions, spoken) => {
  expect(spokenReviewVersion(versions)).toBe(spoken);
});

it("a review says its version", () => {
  expect(reviewOf({ name: "a" }, { uid: "u", reviewVersion: "v1beta1" })).toEqual({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1beta1",
    request: { uid: "u", name: "a" },
  });
});

const old = (response: object, type: "mutating" | "validating" = "mutating") =>
  readReviewAnswer({ response }, { uid: "u", reviewVersion: "v1beta1", type });

it.each<[string, object, string | undefined]>([
  ["a patch without a type", { allowed: true, patch: "W10=" }, "[]"],
  ["a patch of another type", { allowed: true, patch: "W10=", patchType: "Merge" }, "[]"],
  ["a type without a patch", { allowed: true, patchType: "JSONPatch" }, undefined],
  ["another request's uid", { allowed: true, uid: "x" }, undefined],
])("an answer in v1beta1 may have %s", (_what, response, patch) => {
  expect(old(response).patch?.toString()).toBe(patch);
});

it("a validating webhook changes nothing in v1beta1", () => {
  expect(old({ allowed: true, patch: "W10=" }, "validating").patch).toBeUndefined();
});

it.each<[unknown, RegExp]>([
  [{}, /webhook response was absent/],
  [{ response: { patch: 5 } }, /response.patch must be text in base64/],
  [{ response: { allowed: "yes" } }, /response.allowed must be a boolean/],
])("%j is no answer in v1beta1", (body, message) => {
  expect(() => readReviewAnswer(body, { uid: "u", reviewVersion: "v1beta1", type: "mutating" })).toThrow(message);
});
