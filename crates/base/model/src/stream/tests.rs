use super::*;
use crate::frame_size::FrameSize;

const FILE: &str = r#"
[[stream]]
name = "voice"
sizes = [64, 128]
vlans = [7, "100 priority 5"]
source_ip = "198.18.0.1..198.18.0.100"
source_port = "1024..1123"
load = "10 % poisson"

[[stream]]
ip = 6
protocol = "tcp"
sizes = 1518
dscp = 46
source_port = "random 1024..65535 seed 3"
flows = 1000000
payload = "hex 0badcafe"
"#;

fn error(toml: &str) -> String {
    Stream::parse_file(toml).unwrap_err().to_string()
}

fn stream(keys: &str) -> String {
    error(&format!("[[stream]]\n{keys}"))
}

#[test]
fn a_stream_file_is_read_and_travels_as_json() {
    let streams = Stream::parse_file(FILE).unwrap();
    assert_eq!(streams.len(), 2);
    assert_eq!(streams[0].sizes, Sizes::List(vec![FrameSize(64), FrameSize(128)]));
    assert_eq!(streams[0].vlans.iter().map(|vlan| (vlan.id, vlan.priority)).collect::<Vec<_>>(), [(7, 0), (100, 5)]);
    assert_eq!(streams[0].flow_count(), Ok(10_000));
    assert_eq!((streams[1].name.as_str(), streams[1].flow_count()), ("stream", Ok(1_000_000)));
    let tables = streams.iter().map(|stream| format!("[[stream]]\n{}", toml::to_string(stream).unwrap()));
    assert_eq!(Stream::parse_file(&tables.collect::<String>()), Ok(streams));
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    assert!(error("").contains("has 0 streams: write 1 to 256"));
    let unknown = stream("size = 64");
    assert!(unknown.contains("line 2, column 1") && unknown.contains("expected one of"), "{unknown}");
    let sizes = stream("sizes = \"many\"");
    assert!(sizes.contains("line 2") && sizes.contains("\"many\" is not a frame size"), "{sizes}");
    assert!(stream("sizes = true").contains("text, a number, or a list of these"), "{}", stream("sizes = true"));
    assert!(error("stream = 1").contains("line 1"));
}

#[test]
fn streams_of_one_file_have_different_names() {
    let error = error("[[stream]]\nname = \"voice\"\n[[stream]]\n[[stream]]\nname = \"voice\"");
    assert!(error.starts_with("stream \"voice\": another stream has this name too"), "{error}");
    assert!(Stream::parse_file("[[stream]]\nname = \"voice\"\n[[stream]]").is_ok());
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_can() {
    assert!(stream("dscp = 64").contains("stream \"stream\": there is no DSCP 64: use 0 to 63"));
    assert!(stream("ttl = 0").contains("use 1 to 255"));
    assert!(stream("vlans = [1, 2, 3]").contains("2 at the most"));
    assert!(stream("name = \"\"").contains("1 to 64 characters"));
    assert!(stream("source_mac = \"01:00:5e:00:00:01\"").contains("names a group"));
    assert!(stream("source_ip = \"224.0.0.1\"").contains("names a group"));
    assert!(stream("destination_ip = \"2001:2::1\"").contains("2001:2::1 is not IPv4: write ip = 6"));
}

#[test]
fn flows_are_as_many_as_the_fields_make_or_as_told() {
    assert!(stream("flows = 0").contains("use 1 to 1000000"));
    assert!(stream("flows = 1000001").contains("use 1 to 1000000"));
    assert!(stream("source_port = \"random 1..9\"").contains("write how many flows"));
    assert!(
        stream("source_ip = \"198.18.0.0..198.19.255.255\"\nsource_port = \"1..9\"").contains("make 1179648 flows")
    );
    assert!(stream("source_port = \"1..9\"\nflows = 10").contains("its fields make 9 flows, and 10 are asked for"));
    let some = "[[stream]]\nsource_ip = \"198.18.0.0..198.19.255.255\"\nsource_port = \"1..9\"\nflows = 5";
    assert_eq!(Stream::parse_file(some).unwrap()[0].flow_count(), Ok(5));
}

#[test]
fn ports_make_the_flows_that_no_field_makes() {
    let ports = |flows| {
        let (source, destination) = Stream { flows: Some(flows), ..Stream::default() }.ports();
        (source.count().unwrap(), destination.count().unwrap())
    };
    assert_eq!(
        [1, 1000, 64_512, 64_513, 1_000_000].map(ports),
        [(1, 1), (1000, 1), (64_512, 1), (64_512, 2), (64_512, 16)]
    );
}

#[test]
fn ports_that_were_set_stay_as_they_are() {
    let one = |keys: &str| Stream::parse_file(&format!("[[stream]]\n{keys}")).unwrap().remove(0).ports();
    let (source, destination) = one("source_port = 7\nflows = 1000");
    assert_eq!((source, destination.to_string()), (Values::One(7), "1024..2023".to_owned()));
    let (source, destination) = one("destination_port = 7\nflows = 64512");
    assert_eq!((source.to_string(), destination), ("1024..65535".to_owned(), Values::One(7)));
    assert!(stream("destination_port = 7\nflows = 64513").contains("make 64512 flows, and 64513 are asked for"));
    assert!(stream("source_port = 7\ndestination_port = 7\nflows = 2").contains("make 1 flows, and 2 are asked for"));
}

#[test]
fn the_examples_of_the_documentation_are_stream_files() {
    let page = include_str!("../../../../../docs/streams.md");
    let examples: Vec<&str> = page.split("```toml").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 1);
    let streams = Stream::parse_file(examples[0]).unwrap();
    assert_eq!(streams.iter().map(|stream| stream.name.as_str()).collect::<Vec<_>>(), ["voice", "bulk"]);
    assert_eq!(streams.iter().map(Stream::flow_count).collect::<Vec<_>>(), [Ok(10_000), Ok(1_000_000)]);
}
