import { expect, it } from "vitest";
import { readNodeLogQuery } from "./node-log-query.ts";

const read = (query: string) => readNodeLogQuery(new URLSearchParams(query));

it("asks for nothing without parameters", () => {
  expect(read("")).toEqual({ kind: "none" });
  expect(read("other=1&pattern=")).toEqual({ kind: "none" });
});

it("tells services from files", () => {
  expect(read("query=kubelet&query=cron.service")).toMatchObject({
    query: { services: ["kubelet", "cron.service"], files: [], options: {} },
  });
  expect(read("query=/syslog")).toMatchObject({ query: { services: [], files: ["/syslog"] } });
});

it("reads options", () => {
  const times = "sinceTime=2026-01-01T00:00:00Z&untilTime=2026-01-02T00:00:00%2B02:00";
  expect(read(`query=kubelet&${times}&tailLines=10&boot=-1&pattern=a.b`)).toMatchObject({
    query: {
      options: {
        sinceTime: "2026-01-01T00:00:00Z",
        untilTime: "2026-01-02T00:00:00+02:00",
        tailLines: 10,
        boot: -1,
        pattern: "a.b",
      },
    },
  });
});

it.each(["a;b", "$(reboot)", "`reboot`", "a|b", "a&b", "a b", "a\nb", "a'b", 'a"b', "a>b", "{a,b}", "a*"])(
  "CVE-2024-9042: takes no service of the name %j",
  (service) => {
    expect(read(`query=${encodeURIComponent(service)}`)).toMatchObject({ kind: "refused", status: 406 });
  },
);

const long = "a".repeat(257);
it.each<[string, 400 | 406, string]>([
  ["query=%20%20", 400, 'query: Invalid value: ["  "]: query cannot be empty'],
  ["query=a&sinceTime=now", 400, 'sinceTime: Invalid value: "now": invalid time format'],
  ["query=a&boot=x", 400, 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
  [
    "query=a&untilTime=x&tailLines=99999999999999999999",
    400,
    '[untilTime: Invalid value: "x": invalid time format, tailLines: Invalid value: "99999999999999999999": strconv.Atoi: parsing "99999999999999999999": value out of range]',
  ],
  ["tailLines=1", 406, "query: Required value: cannot be empty with options"],
  ["query=a%3Bb", 406, 'query: Invalid value: "a;b": input contains unsupported characters'],
  [`query=${long}`, 406, `query: Invalid value: "${long}": length must be less than 256`],
  ["query=a&query=b&query=c&query=d&query=e", 406, "query: Too many: 5: must have at most 4 items"],
  ["query=a&query=/b", 406, 'query: Invalid value: "[/b], [a]": cannot specify a file and service'],
  ["query=/a&query=/b", 406, 'query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
  ["query=/a&boot=0", 406, 'query: Invalid value: ["/a"]: cannot specify file with options'],
  ["query=a&boot=1", 406, "boot: Invalid value: 1: must be less than 1"],
  ["query=a&tailLines=100001", 406, "tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive"],
  [
    "query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z",
    406,
    'untilTime: Invalid value: "2026-01-01T00:00:00Z": must be after `sinceTime`',
  ],
])("refuses %s", (query, status, message) => {
  expect(read(query)).toEqual({ kind: "refused", status, message });
});

it("refuses a pattern that Go cannot read", () => {
  expect(read("query=a&pattern=%28")).toMatchObject({
    status: 406,
    message: expect.stringMatching(/^pattern: Invalid value: "\(": error parsing regexp: missing closing \)/),
  });
});
