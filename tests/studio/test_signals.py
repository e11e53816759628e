"""Signals of runs: the title tells progress and result, and an end is news for a while only."""

from types import SimpleNamespace

from deem_core.runs import State
from studio import signals

RUN = SimpleNamespace(id="a" * 32)


def test_the_title_says_how_far_a_run_has_come():
    assert signals.title([(RUN, State("queued")), (RUN, State("running", share=0.42))], []) == "42% · DEEM Studio"
    assert signals.title([(RUN, State("queued"))], []) == "Queued · DEEM Studio"


def test_the_title_says_how_a_run_ended_and_is_plain_otherwise():
    ended = signals.Ended("a", "✓ Done · DEEM Studio", "DEEM · votes.csv", 1.0)
    assert signals.title([], [ended]) == "✓ Done · DEEM Studio"
    assert signals.title([(RUN, State("running", share=0.5))], [ended]) == "50% · DEEM Studio"
    assert signals.title([], []) == "DEEM Studio"


def test_only_runs_that_this_session_saw_at_work_are_news(monkeypatch):
    told, session = [], {}
    monkeypatch.setattr(signals, "_notify", lambda data, key: told.append(data))
    monkeypatch.setattr(signals.st, "set_page_config", lambda page_title: None)
    monkeypatch.setattr(signals.state, "value", session.get)
    monkeypatch.setattr(signals.state, "set_value", session.__setitem__)
    monkeypatch.setattr(signals.jobs, "look", lambda run, now: ("", "", "Fell back to majority vote"))
    monkeypatch.setattr(signals.jobs, "title", lambda run: "DEEM")
    run = SimpleNamespace(id="a" * 32, spec={"inputs": {"name": "votes.csv"}})
    done = State("done", ended=7.0)
    signals.show([(run, done)])
    assert told[-1] == {"active": False, "ended": []}  # it ended before anybody looked
    signals.show([(run, State("running"))])
    assert told[-1] == {"active": True, "ended": []}
    signals.show([(run, done)])
    (news,) = told[-1]["ended"]
    assert (news["title"], news["body"]) == ("⚠ Fell back to majority vote · DEEM Studio", "DEEM · votes.csv")
    monkeypatch.setattr(signals.time, "monotonic", lambda: 1e9)
    signals.show([(run, done)])
    assert told[-1]["ended"] == []
