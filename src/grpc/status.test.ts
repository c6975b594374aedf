import { Metadata, status } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { codeOfText, nameOfCode, readGrpcFailure, statusOf } from "./status.ts";

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

it("says why there is no connection in the system's words", () => {
  const details = "No connection established. Last error: Error: connect ENOENT /run/x.sock. Resolution note: ";
  expect(readGrpcFailure(serviceError(status.UNAVAILABLE, details)).detail).toBe("connect ENOENT /run/x.sock");
});

it("calls an error without a status internal", () => {
  expect(readGrpcFailure(new TypeError("oops"))).toEqual({ code: "internal", detail: "TypeError: oops" });
});

it("finds the way back from each code", () => {
  const numbers = Object.values(status).filter((code) => typeof code === "number" && code !== status.OK);
  const codes = numbers.map((number) => readGrpcFailure(serviceError(Number(number), "")).code);
  expect(codes.map(statusOf)).toEqual(numbers);
  expect(codes.map(nameOfCode)).toEqual(
    "Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal Unavailable DataLoss Unauthenticated".split(
      " ",
    ),
  );
});

it("tells a code from any other text", () => {
  expect(codeOfText("not-found")).toBe("not-found");
  expect(codeOfText("ENOENT")).toBeUndefined();
});
