import { describe, expect, it } from "vitest";
import { defaultImagePullPolicy, parseImageReference } from "./image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("image references", () => {
  it.each([
    ["busybox", { repository: "busybox" }],
    ["busybox:1.36", { repository: "busybox", tag: "1.36" }],
    ["registry.example:5000/team/app", { repository: "registry.example:5000/team/app" }],
    ["registry.example:5000/team/app:v1", { repository: "registry.example:5000/team/app", tag: "v1" }],
    [`app@${digest}`, { repository: "app", digest }],
    [`localhost/app:v1@${digest}`, { repository: "localhost/app", tag: "v1", digest }],
    ["[2001:db8::1]:5000/app", { repository: "[2001:db8::1]:5000/app" }],
  ])("%s", (image, expected) => {
    expect(parseImageReference(image)).toEqual(expected);
  });

  it.each([
    "",
    "Busybox",
    "app:",
    "app:with space",
    "app@sha256:short",
    "app@x@y",
    "/app",
    "app//b",
    "a".repeat(64),
    "-app",
    "a".repeat(300),
  ])("%j is none", (image) => {
    expect(parseImageReference(image)).toBeUndefined();
  });

  it.each([
    ["app", "Always"],
    ["app:latest", "Always"],
    ["registry.example:5000/app", "Always"],
    ["app:1", "IfNotPresent"],
    [`app@${digest}`, "IfNotPresent"],
    [`app:latest@${digest}`, "Always"],
    ["Not An Image", "IfNotPresent"],
  ])("%s is pulled %s", (image, policy) => {
    expect(defaultImagePullPolicy(image)).toBe(policy);
  });
});
