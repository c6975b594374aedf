import { describe, expect, it } from "vitest";
import { readPodIdRange, type SubordinateIdFiles } from "./subordinate-ids.ts";

const UNIT = 65_536;
const PASSWD = "root:x:0:0:root:/root:/bin/sh\nkubelet:x:998:998::/:/sbin/nologin\n";
const read = (files: Partial<SubordinateIdFiles>, idsPerPod = UNIT, maxPods = 110) =>
  readPodIdRange({ passwd: PASSWD, subuid: undefined, subgid: undefined, ...files }, idsPerPod, maxPods);
const both = (line: string) => ({ subuid: `other:1:5\n${line}\n`, subgid: `${line}\n` });

describe("readPodIdRange", () => {
  const everything = { firstId: UNIT, length: 2 ** 32 - UNIT };
  it.each<{ why: string; files: Partial<SubordinateIdFiles>; idsPerPod?: number; expected: object }>([
    { why: "no such files: all but the host's own", files: {}, expected: everything },
    { why: "no such user", files: { passwd: "root:x:0:0::/:/bin/sh", ...both("kubelet:1:1") }, expected: everything },
    { why: "nothing for the user", files: { subuid: "other:1:5\n", subgid: "" }, expected: everything },
    {
      why: "larger namespaces: all but the first of them",
      files: {},
      idsPerPod: 3 * UNIT,
      expected: { firstId: 3 * UNIT, length: 2 ** 32 - 3 * UNIT },
    },
    {
      why: "the user's range",
      files: both(`kubelet:${UNIT}:${110 * UNIT}`),
      expected: { firstId: UNIT, length: 110 * UNIT },
    },
  ])("$why", ({ files, idsPerPod, expected }) => {
    expect(read(files, idsPerPod)).toEqual(expected);
  });

  it.each<{ why: string; files: Partial<SubordinateIdFiles>; error: RegExp }>([
    {
      why: "ranges that differ",
      files: { subuid: `kubelet:${UNIT}:${110 * UNIT}`, subgid: `kubelet:${2 * UNIT}:${110 * UNIT}` },
      error: /mismatched subuids and subgids for user "kubelet"/,
    },
    { why: "users without groups", files: { subuid: `kubelet:${UNIT}:${110 * UNIT}` }, error: /mismatched/ },
    {
      why: "several ranges",
      files: both(`kubelet:${UNIT}:${UNIT}\nkubelet:${4 * UNIT}:${UNIT}`),
      error: /error parsing line/,
    },
    { why: "no numbers", files: both("kubelet:a:b"), error: /error parsing line/ },
    {
      why: "a start between two pods'",
      files: both(`kubelet:100000:${110 * UNIT}`),
      error: /kubelet user assigned ID 100000 is not a multiple of 65536/,
    },
    {
      why: "the host's own IDs",
      files: both(`kubelet:0:${110 * UNIT}`),
      error: /ID 0 must be greater or equal to 65536/,
    },
    {
      why: "an odd length",
      files: both(`kubelet:${UNIT}:${110 * UNIT + 1}`),
      error: /length \d+ is not a multiple of/,
    },
    {
      why: "too few",
      files: both(`kubelet:${UNIT}:${109 * UNIT}`),
      error: /kubelet user assigned IDs are not enough to support 110 pods/,
    },
  ])("refuses $why", ({ files, error }) => {
    expect(() => read(files)).toThrow(error);
  });
});
