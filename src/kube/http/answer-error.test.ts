import { describe, expect, it } from "vitest";
import { notFoundError } from "../../api/api-error.ts";
import { readAnswerError, readStatus } from "./answer-error.ts";

const answer = (status: number, body: unknown) =>
  readAnswerError("GET /x", status, Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
const status = (more: object) => ({ kind: "Status", apiVersion: "v1", status: "Failure", message: "m", ...more });

describe("the error of an answer", () => {
  it("is the one that the server threw", () => {
    const thrown = notFoundError({ group: "apps", resource: "deployments" }, "a");
    expect(answer(404, thrown.status)).toEqual(thrown);
    expect(answer(404, thrown.status)).toMatchObject({ status: thrown.status });
  });

  it.each([
    ["Conflict", 409, "Conflict"],
    ["AlreadyExists", 409, "AlreadyExists"],
    ["", 409, "Conflict"],
    ["Gone", 410, "Gone"],
    ["", 410, "Expired"],
    ["NewReason", 403, "Forbidden"],
    ["NewReason", 418, "BadRequest"],
    ["ServerTimeout", 500, "InternalError"],
    ["NewReason", 599, "InternalError"],
    ["toString", 404, "NotFound"],
  ])("with reason %j and code %i is %s", (reason, code, expected) => {
    expect(answer(code, status({ reason, code }))).toMatchObject({ name: "ApiError", reason: expected });
  });

  it("keeps the details that callers read", () => {
    const causes = [{ reason: "FieldValueInvalid", message: "no", field: "spec" }];
    const details = { name: "a", group: "g", kind: "pods", uid: "u", causes, retryAfterSeconds: 3 };
    expect(readStatus(status({ reason: "Timeout", code: 504, details }))?.details).toEqual({
      name: "a",
      group: "g",
      kind: "pods",
      causes,
      retryAfterSeconds: 3,
    });
  });

  it.each([
    [404, "404 page not found"],
    [404, { kind: "Pod" }],
    [409, { kind: "Status", status: "Success" }],
    [502, "<html>"],
  ])("of %i and no Status is of nobody's object", (code, body) => {
    expect(answer(code, body)).toMatchObject({ name: "KubeUnreachableError", code: "unreachable" });
  });

  it.each([
    [401, "Unauthorized"],
    [429, "TooManyRequests"],
  ])("of %i cannot be mistaken", (code, reason) => {
    expect(answer(code, "plain text")).toMatchObject({ name: "ApiError", reason });
  });
});
