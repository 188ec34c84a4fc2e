//! Engines: ways of sending packets by number.

use model::{
    Engine,
    check::{Check, Finding, Lack, Severity, Subject},
};

/// A few frames by an engine, as counts of those that left and arrived: unless all arrive, it is not to be trusted. An engine
/// that cannot be had says why.
pub fn engine(engine: Engine, tried: Result<(u64, u64), String>) -> Check {
    let engine = engine.to_string();
    match tried {
        Ok((sent, received)) => {
            let found = Finding::EngineTried { engine, sent, received };
            if sent > 0 && sent == received {
                Check::ok(Subject::Engine, found)
            } else {
                Check::not(Subject::Engine, Severity::Warn, found, Lack::EngineFrames)
            }
        }
        Err(why) => Check::not(Subject::Engine, Severity::Info, Finding::NoEngine { engine, why }, Lack::Engine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_trusted_where_all_of_its_frames_arrive() {
        let lack = |tried| engine(Engine::Udp, tried).lack;
        assert_eq!(lack(Ok((200, 200))), None);
        assert_eq!((lack(Ok((200, 199))), lack(Ok((0, 0)))), (Some(Lack::EngineFrames), Some(Lack::EngineFrames)));
        assert_eq!(lack(Err("no such program".into())), Some(Lack::Engine));
    }
}
