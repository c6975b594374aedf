import { expect, it } from "vitest";
import { CriError, type CriErrorCode } from "../../../cri/port.ts";
import { parsePorts } from "./port-forward-ports.ts";
import { parseRemoteCommandOptions } from "./remote-command-options.ts";
import { describeFailure } from "./stream-failure.ts";
import { parseStreamTarget, type TargetShape } from "./stream-target.ts";

const NOTHING = "you must specify at least 1 of stdin, stdout, stderr";
const NONE = { stdin: false, stdout: false, stderr: false, tty: false };

it.each([
  ["", NOTHING],
  ["tty=1", NOTHING],
  ["output=true", NOTHING],
  // A terminal has no stderr, so there is nothing left.
  ["tty=1&error=1", NOTHING],
  // The API server's names are not the node's.
  ["stdin=1&stdout=1", NOTHING],
  ["input=1", { ...NONE, stdin: true }],
  ["input=1&output=1&error=1", { ...NONE, stdin: true, stdout: true, stderr: true }],
  ["input=1&output=1&error=1&tty=1", { ...NONE, stdin: true, stdout: true, tty: true }],
  ["output=1&output=0", { ...NONE, stdout: true }],
])("the streams of %j are %j", (query, expected) => {
  expect(parseRemoteCommandOptions(new URLSearchParams(query))).toEqual(expected);
});

const syntax = (value: string, text: string, why: string) =>
  `unable to parse "${value}" as a port: strconv.ParseUint: parsing "${text}": ${why}`;

it.each([
  ["", 'query parameter "port" is required'],
  ["port=", 'query parameter "port" cannot be empty'],
  ["port=80&port=", 'query parameter "port" cannot be empty'],
  ["port=0", 'port "0" must be > 0'],
  ["port=80,0", 'port "80,0" must be > 0'],
  ["port=65536", syntax("65536", "65536", "value out of range")],
  ["port=80,x", syntax("80,x", "x", "invalid syntax")],
  ["port=80,", syntax("80,", "", "invalid syntax")],
  ["port=-1", syntax("-1", "-1", "invalid syntax")],
  ["port=%2b1", syntax("+1", "+1", "invalid syntax")],
  ["port=80", [80]],
  ["port=443,080&port=65535&port=443", [443, 80, 65_535, 443]],
])("the ports of %j are %j", (query, expected) => {
  expect(parsePorts(new URLSearchParams(query))).toEqual(expected);
});

const EXEC: TargetShape = { root: "/exec", methods: ["GET", "POST"] };
const FORWARD: TargetShape = { root: "/portForward", methods: ["POST"], hasContainer: false };
const NOT_FOUND = { refused: { status: 404, body: "404: Page Not Found" } };
const target = { namespace: "ns", podName: "pod", podUid: undefined, containerName: "c" };

it.each<[string, string, TargetShape, object]>([
  ["GET", "/exec/ns/pod/c", EXEC, target],
  ["POST", "/exec/ns/pod/c/", EXEC, target],
  ["POST", "/exec/ns/pod/uid/c", EXEC, { ...target, podUid: "uid" }],
  ["POST", "/exec/ns/pod/uid/c", { ...EXEC, hasUid: false }, NOT_FOUND],
  ["POST", "/exec", EXEC, NOT_FOUND],
  ["POST", "/exec/ns/pod", EXEC, NOT_FOUND],
  ["POST", "/exec/ns//c", EXEC, NOT_FOUND],
  ["POST", "/exec/ns/pod/uid/c/more", EXEC, NOT_FOUND],
  ["PUT", "/exec/ns/pod", EXEC, NOT_FOUND],
  ["POST", "/portForward/ns/pod", FORWARD, { ...target, containerName: "" }],
  ["POST", "/portForward/ns/pod/uid", FORWARD, { ...target, podUid: "uid", containerName: "" }],
  ["GET", "/portForward/ns/pod", FORWARD, { refused: { status: 405, headers: { allow: "POST" } } }],
])("%s %s names what it should", (method, path, shape, expected) => {
  expect(parseStreamTarget({ method, path }, shape)).toMatchObject(expected);
});

const criError = (code: CriErrorCode) => new CriError(code, { rpc: "Exec", endpoint: "unix:///x", detail: "why" });

it.each<[unknown, object]>([
  [criError("not-found"), { status: 404, body: "rpc error: code = NotFound desc = why" }],
  [
    criError("resource-exhausted"),
    { status: 429, headers: { "retry-after": "60" }, body: "rpc error: code = ResourceExhausted desc = why" },
  ],
  [criError("cancelled"), { status: 500, body: "rpc error: code = Canceled desc = why" }],
  [criError("not-a-runtime"), { status: 500, body: "rpc error: code = Unavailable desc = why" }],
  [new Error("why"), { status: 500, body: "why" }],
])("%s is told as upstream tells it", (error, expected) => {
  expect(describeFailure(error)).toEqual(expected);
});
