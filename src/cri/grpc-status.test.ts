import { Metadata, status } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { readGrpcFailure } from "./grpc-status.ts";

const serviceError = (code: number, details: string) =>
  Object.assign(new Error(`${code} X: ${details}`), { code, details, metadata: new Metadata() });

it.each([
  [status.NOT_FOUND, "not-found"],
  [status.UNAVAILABLE, "unavailable"],
  [status.DEADLINE_EXCEEDED, "deadline-exceeded"],
  [status.UNIMPLEMENTED, "unimplemented"],
  [status.RESOURCE_EXHAUSTED, "resource-exhausted"],
  [status.UNKNOWN, "unknown"],
  [99, "unknown"],
])("gRPC status %i is %s", (code, expected) => {
  expect(readGrpcFailure(serviceError(code, "why"))).toEqual({ code: expected, detail: "why" });
});

it("has a code for every gRPC status but OK", () => {
  const codes = Object.values(status).filter((code): code is status => typeof code === "number" && code !== status.OK);
  const distinct = new Set(codes.map((code) => readGrpcFailure(serviceError(code, "")).code));
  expect(distinct.size).toBe(16);
});

it("takes the whole message where the server gave no details", () => {
  expect(readGrpcFailure(serviceError(status.INTERNAL, "")).detail).toContain("13");
});

it("calls an error without a status internal", () => {
  expect(readGrpcFailure(new TypeError("oops"))).toEqual({ code: "internal", detail: "TypeError: oops" });
});
