import { describe, expect, it } from "vitest";
import { groupResource } from "../ports/resource-kind.ts";
import { GROUP_KINDS } from "./group-kinds.ts";
import { REVIEW_KINDS } from "./reviews/review-kinds.ts";

describe("the kinds of the groups", () => {
  it("are there once each, with a schema that has metadata", () => {
    const names = GROUP_KINDS.filter(({ storedAs }) => storedAs === undefined).map(groupResource);
    expect(new Set(names).size).toBe(names.length);
    const bare = GROUP_KINDS.filter(({ schema }) => {
      return schema.node.kind !== "struct" || schema.node.field("metadata") === undefined;
    });
    expect(bare).toEqual([]);
  });

  it.each([
    ["certificatesigningrequests.certificates.k8s.io", ["csr"], false],
    ["csidrivers.storage.k8s.io", [], false],
    ["csinodes.storage.k8s.io", [], false],
    ["csistoragecapacities.storage.k8s.io", [], true],
    ["priorityclasses.scheduling.k8s.io", ["pc"], false],
    ["runtimeclasses.node.k8s.io", [], false],
    ["storageclasses.storage.k8s.io", ["sc"], false],
    ["volumeattachments.storage.k8s.io", [], false],
    ["volumeattributesclasses.storage.k8s.io", ["vac"], false],
  ])("%s are called %j for short", (name, shortNames, namespaced) => {
    const row = GROUP_KINDS.find((kind) => groupResource(kind) === name);
    expect(row).toMatchObject({ shortNames, namespaced, version: "v1" });
  });
});

describe("a review", () => {
  it.each(REVIEW_KINDS.map((row) => [row.kind, row] as const))("of kind %s can only be asked for", (_kind, row) => {
    expect(row.verbs).toEqual(["create"]);
    expect(row.namespaced).toBe(row.kind === "LocalSubjectAccessReview");
  });
});
