# SPDX-License-Identifier: BSD-2-Clause
# Makes known calls: ruby_calls.rb SECONDS [SCENE…]. Each scene runs that long.

def now
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def work
  x = 0
  200.times { |i| x += i }
  x
end

def recursion(depth = 0)
  depth < 30 ? recursion(depth + 1) : work
end

def blocks
  [1, 2, 3].each { |i| [i].map { |j| work + j } }
end

def sorting
  (1..6).to_a.sort_by { |x| work - x }
end

def compared
  [3, 1, 2].sort { |a, b| work; a <=> b }
end

def failing
  work
  raise ArgumentError, "known"
end

def exceptions
  failing
rescue ArgumentError
  work
ensure
  work
end

def helper
  finish = now + 0.002
  work while now < finish
end

def threads
  Array.new(3) { Thread.new { helper } }.each(&:join)
end

def produced
  work
  Fiber.yield 1
  work
  2
end

def fibers
  fiber = Fiber.new { produced }
  fiber.resume
  fiber.resume
end

def enumerators
  numbers = Enumerator.new { |out| 3.times { |i| work; out << i } }
  numbers.next
  numbers.next
end

def evaluated
  eval("work", binding, "made")
end

class Shape
  def area
    work
  end

  define_method(:defined) { work }

  def method_missing(name, *)
    name == :absent ? work : super
  end

  def respond_to_missing?(*)
    true
  end
end

def objects
  shape = Shape.new
  shape.area
  shape.defined
  shape.absent
  shape.send(:area)
  shape.method(:area).call
end

def called_by_c
  { 1 => 2 }.to_h { |key, value| [key, work + value] }
  "a-b".gsub(/[ab]/) { |found| work; found }
  [1, 2].inject { |a, b| work; a + b }
end

ALL = %i[recursion blocks sorting compared exceptions threads fibers enumerators evaluated objects
         called_by_c].freeze

def scene(name, seconds)
  finish = now + seconds
  send(name) while now < finish
end

wanted = ARGV.drop(1).map(&:to_sym)
(wanted.empty? ? ALL : wanted).each { |name| scene(name, ARGV[0].to_f) }
