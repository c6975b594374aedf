import { describe, expect, it } from "vitest";
import { readLogOptions } from "./log-options.ts";

const read = (query: string) => readLogOptions(new URLSearchParams(query), "web");

describe("what is asked of a log", () => {
  it.each([
    ["", "stream=All"],
    ["follow=true&previous=false&timestamps=0", "follow=true&stream=All"],
    ["follow=&previous=FALSE", "follow=true&stream=All"],
    ["container=main&tailLines=007&limitBytes=%2B5", "limitBytes=5&stream=All&tailLines=7"],
    ["sinceTime=2026-01-02T03%3A04%3A05.999-02%3A00", "sinceTime=2026-01-02T05%3A04%3A05Z&stream=All"],
    ["sinceTime=&sinceSeconds=9223372036854775807", "sinceSeconds=9223372036854775807&stream=All"],
    ["stream=Stderr&limitBytes=1", "limitBytes=1&stream=Stderr"],
  ])("is passed on of %j as %j", (query, passed) => expect(read(query).query).toBe(passed));

  it.each([
    ["limitBytes=1.5", 'strconv.ParseInt: parsing "1.5": invalid syntax'],
    ["sinceSeconds=", 'strconv.ParseInt: parsing "": invalid syntax'],
    ["tailLines=-9223372036854775809", 'strconv.ParseInt: parsing "-9223372036854775809": value out of range'],
    ["stream=both", 'stream: Unsupported value: "both": supported values: "All", "Stderr", "Stdout"'],
    ["stream=Stdout&tailLines=1", "`tailLines` and specific `stream` are mutually exclusive for now"],
    ["sinceTime=2026-13-02T03%3A04%3A05Z", 'cannot parse "2026-13-02T03:04:05Z"'],
    ["tailLines=-1&limitBytes=0", "[tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: "],
  ])("is refused of %j", (query, message) => expect(() => read(query)).toThrow(message));
});
