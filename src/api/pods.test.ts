import { describe, expect, it } from "vitest";
import type { Pod } from "./gen/types.ts";
import {
  isCriticalPod,
  isMirrorPod,
  isRestartableInitContainer,
  isStaticPod,
  isTerminalPhase,
  podContainers,
  podFullName,
  podReference,
  sourceOf,
} from "./pods.ts";

const annotated = (annotations: Record<string, string>, priority?: number): Pod => ({
  metadata: { name: "a", namespace: "b", uid: "c", annotations },
  spec: { containers: [], ...(priority !== undefined && { priority }) },
});
const from = (source: string) => annotated({ "kubernetes.io/config.source": source });

describe("pods", () => {
  it("have a full name and a reference, empty where nothing is set", () => {
    expect(podFullName(from("file"))).toBe("a_b");
    expect(podReference(from("file"))).toEqual({ uid: "c", name: "a", namespace: "b" });
    expect(podReference({})).toEqual({ uid: "", name: "", namespace: "" });
  });

  it.each<[string, Pod, { source: string | undefined; isStatic: boolean; isMirror: boolean; isCritical: boolean }]>([
    ["from a file", from("file"), { source: "file", isStatic: true, isMirror: false, isCritical: true }],
    ["from a URL", from("http"), { source: "http", isStatic: true, isMirror: false, isCritical: true }],
    ["from the API server", from("api"), { source: "api", isStatic: false, isMirror: false, isCritical: false }],
    ["from nowhere known", from("moon"), { source: undefined, isStatic: false, isMirror: false, isCritical: false }],
    ["unmarked", {}, { source: undefined, isStatic: false, isMirror: false, isCritical: false }],
    [
      "a mirror",
      annotated({ "kubernetes.io/config.source": "api", "kubernetes.io/config.mirror": "x" }),
      { source: "api", isStatic: false, isMirror: true, isCritical: true },
    ],
    [
      "of system priority",
      annotated({}, 2_000_000_000),
      { source: undefined, isStatic: false, isMirror: false, isCritical: true },
    ],
    [
      "of user priority",
      annotated({}, 1_999_999_999),
      { source: undefined, isStatic: false, isMirror: false, isCritical: false },
    ],
  ])("%s", (_, pod, expected) => {
    expect({
      source: sourceOf(pod),
      isStatic: isStaticPod(pod),
      isMirror: isMirrorPod(pod),
      isCritical: isCriticalPod(pod),
    }).toEqual(expected);
  });

  it("list their containers in starting order", () => {
    const pod: Pod = {
      spec: { containers: [{ name: "m" }], initContainers: [{ name: "i" }], ephemeralContainers: [{ name: "e" }] },
    };
    expect(podContainers(pod).map(({ container, kind }) => [container.name, kind])).toEqual([
      ["i", "init"],
      ["m", "main"],
      ["e", "ephemeral"],
    ]);
    expect(podContainers({})).toEqual([]);
  });

  it("end in Succeeded or Failed", () => {
    expect(["Pending", "Running", "Succeeded", "Failed", "Unknown", undefined].map(isTerminalPhase)).toEqual([
      false,
      false,
      true,
      true,
      false,
      false,
    ]);
  });

  it("have sidecars: init containers that always restart", () => {
    expect(isRestartableInitContainer({ name: "a", restartPolicy: "Always" })).toBe(true);
    expect(isRestartableInitContainer({ name: "a" })).toBe(false);
  });
});
