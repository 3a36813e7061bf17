//! Work on several threads whose results are used in order, as soon as they are there.

use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};

/// The longest time between two calls of [`Pipeline::idle`] while no result arrives.
const IDLE: Duration = Duration::from_secs(1);

/// What the thread that started the work does meanwhile.
pub trait Pipeline {
    /// A piece of work.
    type Task: Send;
    /// Its result.
    type Answer: Send;

    /// The next piece of work; none at the end.
    fn next(&mut self) -> Result<Option<Self::Task>>;

    /// Takes a result. Results arrive in the order of the pieces of work.
    fn take(&mut self, answer: Self::Answer) -> Result<()>;

    /// Called at least once a second while no result arrives.
    fn idle(&mut self) -> Result<()>;
}

/// The result of a piece of work, or the panic that ended it.
type Report<R> = (usize, thread::Result<R>);

/// Runs `answer` on the work of a pipeline, on as many threads as `workers`. Threads take work in order. At
/// most `window` pieces of work have been given out without their results being taken, so that memory is
/// bounded, and one that takes long does not stop those after it within the window.
///
/// # Errors
/// The first in the order of the work, whatever the number of threads: work before an error of
/// [`Pipeline::next`] is done and taken first.
pub fn run<P: Pipeline>(
    pipeline: &mut P,
    workers: usize,
    window: usize,
    answer: impl Fn(P::Task) -> P::Answer + Sync,
) -> Result<()> {
    let (give, tasks) = mpsc::channel();
    let tasks = Mutex::new(tasks);
    let (report, reports) = mpsc::channel();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..workers {
            let report = report.clone();
            scope.spawn(|| work(&tasks, &is_over, &answer, report));
        }
        drop(report);
        let done = panic::catch_unwind(AssertUnwindSafe(|| coordinate(pipeline, window, &give, &reports)));
        // Work that nobody has begun is left undone after an error.
        is_over.store(true, Ordering::Relaxed);
        drop(give);
        done.unwrap_or_else(|panic| panic::resume_unwind(panic))
    })
}

/// Takes pieces of work until there are no more.
fn work<T, R>(
    tasks: &Mutex<Receiver<(usize, T)>>,
    is_over: &AtomicBool,
    answer: &impl Fn(T) -> R,
    report: Sender<Report<R>>,
) {
    loop {
        let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, task)) = task else { return };
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let result = panic::catch_unwind(AssertUnwindSafe(|| answer(task)));
        if report.send((index, result)).is_err() {
            return;
        }
    }
}

/// Gives out work, and takes the results in order.
fn coordinate<P: Pipeline>(
    pipeline: &mut P,
    window: usize,
    give: &Sender<(usize, P::Task)>,
    reports: &Receiver<Report<P::Answer>>,
) -> Result<()> {
    // The results from number `taken` on; none where they have not arrived.
    let mut results: VecDeque<Option<P::Answer>> = VecDeque::new();
    let mut taken = 0;
    let mut end: Option<Result<()>> = None;
    loop {
        while end.is_none() && results.len() < window {
            match pipeline.next() {
                Ok(Some(task)) => {
                    if give.send((taken + results.len(), task)).is_err() {
                        bail!("the threads that answer have ended");
                    }
                    results.push_back(None);
                }
                Ok(None) => end = Some(Ok(())),
                Err(error) => end = Some(Err(error)),
            }
        }
        if results.is_empty() {
            return end.unwrap_or(Ok(()));
        }
        match reports.recv_timeout(IDLE) {
            Ok((index, Ok(result))) => results[index - taken] = Some(result),
            Ok((_, Err(panic))) => panic::resume_unwind(panic),
            Err(RecvTimeoutError::Timeout) => pipeline.idle()?,
            Err(RecvTimeoutError::Disconnected) => bail!("the threads that answer have ended"),
        }
        while let Some(result) = results.pop_front_if(|result| result.is_some()).flatten() {
            taken += 1;
            pipeline.take(result)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Condvar;

    use super::*;

    /// Numbers up to an end, behind which there may be an error.
    struct Numbers {
        next: usize,
        end: usize,
        fails: bool,
        taken: Vec<usize>,
        most_ahead: usize,
    }

    impl Numbers {
        fn new(end: usize, fails: bool) -> Self {
            Self { next: 0, end, fails, taken: Vec::new(), most_ahead: 0 }
        }
    }

    impl Pipeline for Numbers {
        type Task = usize;
        type Answer = Result<usize>;

        fn next(&mut self) -> Result<Option<usize>> {
            if self.next == self.end {
                return if self.fails { bail!("a bad row") } else { Ok(None) };
            }
            self.next += 1;
            self.most_ahead = self.most_ahead.max(self.next - self.taken.len());
            Ok(Some(self.next - 1))
        }

        fn take(&mut self, answer: Result<usize>) -> Result<()> {
            self.taken.push(answer?);
            Ok(())
        }

        fn idle(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_slowest_stops_nobody_and_the_order_is_kept() {
        let mut numbers = Numbers::new(1000, false);
        let (finished, changed) = (Mutex::new(0), Condvar::new());
        // The first ends after the whole window behind it.
        let answer = |task: usize| {
            let mut count = finished.lock().unwrap();
            while task == 0 && *count < 99 {
                count = changed.wait(count).unwrap();
            }
            *count += 1;
            changed.notify_all();
            Ok(task)
        };
        run(&mut numbers, 2, 100, answer).unwrap();
        assert_eq!(numbers.taken, (0..1000).collect::<Vec<_>>());
        assert_eq!(numbers.most_ahead, 100);
    }

    #[test]
    fn the_first_error_is_reported_after_everything_before_it() {
        for workers in [1, 2, 5] {
            let mut numbers = Numbers::new(50, true);
            let said = run(&mut numbers, workers, 20, Ok).unwrap_err().to_string();
            assert_eq!((said.as_str(), numbers.taken.len()), ("a bad row", 50));
            let mut numbers = Numbers::new(50, true);
            let fail = |task| if task % 20 == 19 { bail!("person {task}") } else { Ok(task) };
            let said = run(&mut numbers, workers, 20, fail).unwrap_err().to_string();
            assert_eq!((said.as_str(), numbers.taken.len()), ("person 19", 19));
        }
    }

    #[test]
    fn a_panic_is_passed_on() {
        let answer = |task| if task == 7 { panic!("seven") } else { Ok(task) };
        let ended = panic::catch_unwind(|| run(&mut Numbers::new(50, false), 2, 10, answer));
        assert_eq!(ended.unwrap_err().downcast_ref::<&str>(), Some(&"seven"));
    }
}
