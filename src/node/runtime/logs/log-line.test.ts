import { expect, it } from "vitest";
import { parseLogLine } from "./log-line.ts";

const TIME = "2026-01-02T03:04:05.000000000Z";

it.each([
  [`${TIME} stdout F hello world`, { time: TIME, stream: "stdout", text: "hello world\n" }],
  [`${TIME} stderr P half`, { time: TIME, stream: "stderr", text: "half" }],
  [`${TIME} stdout F `, { time: TIME, stream: "stdout", text: "\n" }],
  [`${TIME} stdout F:x tagged`, { time: TIME, stream: "stdout", text: "tagged\n" }],
  [`${TIME} stdout P:x tagged`, { time: TIME, stream: "stdout", text: "tagged" }],
  [`${TIME} stdout F 10%\r20%\r`, { time: TIME, stream: "stdout", text: "10%\r20%\r\n" }],
  ["", undefined],
  ["4Z stdout", undefined],
  [`${TIME} stdlog F x`, undefined],
])("reads %j", (line, expected) => {
  expect(parseLogLine(line)).toEqual(expected);
});
