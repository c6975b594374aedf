import { expect, it } from "vitest";
import { AbortedError } from "../base/abort.ts";
import type { GrpcErrorCode } from "../grpc/port.ts";
import { CsiError, isCsiError, isFinalCsiError } from "./port.ts";

const failure = (code: GrpcErrorCode) => new CsiError(code, { rpc: "NodeStageVolume", driver: "x", detail: "why" });

it.each<[GrpcErrorCode, boolean]>([
  ["aborted", false],
  ["already-exists", true],
  ["cancelled", false],
  ["data-loss", true],
  ["deadline-exceeded", false],
  ["failed-precondition", true],
  ["internal", true],
  ["invalid-argument", true],
  ["not-found", true],
  ["out-of-range", true],
  ["permission-denied", true],
  ["resource-exhausted", false],
  ["unauthenticated", true],
  ["unavailable", false],
  ["unimplemented", true],
  ["unknown", true],
])("%s is final: %s", (code, isFinal) => {
  expect(isFinalCsiError(failure(code))).toBe(isFinal);
});

it.each([new AbortedError(), new TypeError("oops"), "text", undefined])("%s is not final", (thrown) => {
  expect(isFinalCsiError(thrown)).toBe(false);
});

it("is found by its code", () => {
  expect(isCsiError(failure("not-found"))).toBe(true);
  expect(isCsiError(failure("not-found"), "aborted", "not-found")).toBe(true);
  expect(isCsiError(failure("not-found"), "aborted")).toBe(false);
  expect(isCsiError(new Error("why"))).toBe(false);
});

it("reads as upstream's errors do", () => {
  expect(failure("already-exists").message).toBe("rpc error: code = AlreadyExists desc = why");
});
